#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ParaView reads of the exports of dump files, compared with the dumps, every value:

    view_paraview.py N DUMP,DUMP... FILE:LAYOUT:ENDIAN[:RAW]...

FILE in HDF5 has the values of the raw file RAW: of it, XDMF alone is read. FILE.xdmf, FILE.pvd and
FILE.p3d must be there. PLOT3D files have the five components and the coordinates; ParaView computes
pressure and velocity by itself. Prints how many values agreed."""
import sys
from os.path import abspath

from view_values import Dumps, compare, demand

from paraview import servermanager
from paraview.simple import PLOT3DMetaFileReader, PVDReader, XDMFReader  # pylint: disable=E0611
from vtk.util.numpy_support import vtk_to_numpy

PLOT3D_NAMES = {"Density": "density", "Momentum": "momentum", "StagnationEnergy": "energy",
                "Pressure": "pressure", "Velocity": "velocity"}


def the_block(data):
    """The only leaf of what a reader yields."""
    while data.IsA("vtkMultiBlockDataSet"):
        demand("blocks", data.GetNumberOfBlocks(), 1)
        data = data.GetBlock(0)
    return data


def open_file(path, kind):
    if kind == "xdmf":
        return XDMFReader(FileNames=[path + ".xdmf"])
    if kind == "vti":
        return PVDReader(FileName=path + ".pvd")
    return PLOT3DMetaFileReader(FileName=abspath(path + ".p3d"))


def compare_dump(dumps, d, kind, data):
    n, points = dumps.n, data.GetPointData()
    demand(f"{kind}: bounds", [round(x, 12) for x in data.GetBounds()], [0, 1] * 3)
    demand(f"{kind}: points", data.GetNumberOfPoints(), n**3)
    found = {}
    for a in range(points.GetNumberOfArrays()):
        name = points.GetArrayName(a)
        found[PLOT3D_NAMES.get(name, name)] = vtk_to_numpy(points.GetArray(a)).tolist()

    def get(name, number):
        value = found[name][number]
        return tuple(value) if isinstance(value, list) else value

    for number, at in enumerate(dumps.points()):
        demand("place", [round(x * (n - 1), 9) for x in data.GetPoint(number)], list(at))
    return compare(dumps, d, kind, get)


def main(n, wanted, *files):
    count, wanted = 0, [int(d) for d in wanted.split(",")]
    for file in files:
        path, layout, endian, *raw = file.split(":")
        dumps = Dumps(":".join([path, *raw]), int(n), layout, endian)
        for kind in ("xdmf",) if raw else ("xdmf", "vti", "plot3d"):
            reader = open_file(path, kind)
            reader.UpdatePipelineInformation()
            times = reader.TimestepValues
            times = list(times) if hasattr(times, "__len__") else [times]
            demand(f"{kind}: times", times, [dumps.time[d] for d in wanted])
            for time, d in zip(times, wanted):
                reader.UpdatePipeline(time)
                count += compare_dump(dumps, d, kind, the_block(servermanager.Fetch(reader)))
    print(count, "values agree")


main(*sys.argv[1:])
