#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What nht1-verify --export makes of a dump file, read with code of its own and compared with the
dumps, every value:

    view_values.py FILE[:RAW] N LAYOUT ENDIAN DUMP...     with the dumps that must be there

FILE in HDF5 has the values of the raw file RAW: of it, XDMF alone is read. Where a value lies in
FILE is computed from docs/format.md alone; the formats are read as their own descriptions say
(docs/viewing.md). Prints how many values agreed."""
import json
import re
import struct
import sys
import xml.etree.ElementTree as xml
from os.path import dirname, join

COMPS = 5


class Dumps:
    """The values of a dump file, by docs/format.md."""

    def __init__(self, name, n, layout, endian):
        path, _, self.raw = name.partition(":")
        self.path, self.n, self.layout = path, n, layout
        self.order = {"little": "<", "big": ">"}[endian]
        with open(self.raw or path, "rb") as file:
            self.bytes = file.read()
        with open(path + ".json", encoding="utf-8") as file:
            manifest = json.load(file)
        self.time = [entry["step"] * manifest["dt"] for entry in manifest["dumps"]]

    def value(self, d, m, i, j, k):
        n = self.n
        if self.layout == "mijk":
            at = 40 * n**3 * d + 8 * (m + 5 * (i + n * (j + n * k)))
        elif self.layout == "ijkm":
            at = 40 * n**3 * d + 8 * (i + n * (j + n * (k + n * m)))
        else:
            at = n * (40 * n**2 + 8) * d + k * (40 * n**2 + 8) + 4 + 8 * (i + n * (j + n * m))
        return struct.unpack_from(self.order + "d", self.bytes, at)[0]

    def point(self, d, i, j, k):
        """All quantities of a grid point, vectors as tuples."""
        u = [self.value(d, m, i, j, k) for m in range(COMPS)]
        return {
            "density": u[0],
            "momentum": tuple(u[1:4]),
            "energy": u[4],
            "velocity": tuple(x / u[0] for x in u[1:4]),
            "pressure": 0.4 * (u[4] - 0.5 * (u[1] ** 2 + u[2] ** 2 + u[3] ** 2) / u[0]),
        }

    def points(self):
        n = self.n
        return ((i, j, k) for k in range(n) for j in range(n) for i in range(n))


EXACT = ("density", "momentum", "energy")  # copied; the others are computed


def same(name, have, want):
    if name in EXACT:
        return have == want
    pairs = zip(have, want) if isinstance(want, tuple) else [(have, want)]
    return all(abs(a - b) <= 1e-13 * max(1, abs(b)) for a, b in pairs)


def compare(dumps, d, source, get):
    """get(name, number of the point): what was read. Returns how many values were compared."""
    count = 0
    for number, at in enumerate(dumps.points()):
        for name, want in dumps.point(d, *at).items():
            have = get(name, number)
            if not same(name, have, want):
                sys.exit(f"{source}: dump {d}, {name} at (i,j,k) = {at}: {have}, not {want}")
            count += len(want) if isinstance(want, tuple) else 1
    return count


def demand(what, have, want):
    if have != want:
        sys.exit(f"{what}: {have}, not {want}")


# XDMF


def cut(array, dims, start, step, count):
    """Elements of an array of these dimensions."""
    if not dims:
        return [array[0]]
    size = len(array) // dims[0]
    out = []
    for q in range(count[0]):
        at = (start[0] + q * step[0]) * size
        out += cut(array[at : at + size], dims[1:], start[1:], step[1:], count[1:])
    return out


class Item:
    """A DataItem: what it holds, and its dimensions."""

    def __init__(self, element, dumps):
        self.dims = [int(x) for x in element.get("Dimensions").split()]
        size = 1
        for dim in self.dims:
            size *= dim
        kind, inner = element.get("ItemType", "Uniform"), element.findall("DataItem")
        if kind == "HyperSlab":
            box, source = [int(x) for x in inner[0].text.split()], Item(inner[1], dumps)
            rank = len(source.dims)
            self.data = cut(source.data, source.dims, *(box[r * rank :][:rank] for r in range(3)))
        elif kind == "Function":
            terms = [Item(item, dumps).data for item in inner]
            text = re.sub(r"\$(\d)", r"t[\1]", element.get("Function"))
            code = compile(text.replace("JOIN", ""), "function", "eval")
            rows = [eval(code, {"t": t}) for t in zip(*terms)]  # pylint: disable=eval-used
            self.data = [x for row in rows for x in (row if isinstance(row, tuple) else [row])]
        elif element.get("Format") == "XML":
            self.data = [float(x) for x in element.text.split()]
        elif element.get("Format") == "HDF":
            demand("a variable", element.text, dumps.path + ":/solution")
            self.data = list(struct.unpack(f"{dumps.order}{size}d", dumps.bytes))
        else:
            order = {"Little": "<", "Big": ">"}[element.get("Endian")]
            with open(join(dirname(dumps.path), element.text), "rb") as file:
                file.seek(int(element.get("Seek", "0")))
                held = file.read(8 * size) + bytes(8)  # records end 4 bytes early
            self.data = list(struct.unpack_from(f"{order}{size}d", held))
        demand("elements of a DataItem", len(self.data), size)


def check_xdmf(dumps, wanted):
    n, count = dumps.n, 0
    grids = xml.parse(dumps.path + ".xdmf").findall("Domain/Grid/Grid")
    demand("grids", len(grids), len(wanted))
    for grid, d in zip(grids, wanted):
        demand("time", float(grid.find("Time").get("Value")), dumps.time[d])
        demand("dimensions", grid.find("Topology").get("Dimensions"), f"{n} {n} {n}")
        origin, spacing = (Item(item, dumps).data for item in grid.find("Geometry"))
        demand("origin", origin, [0, 0, 0])
        demand("spacing", spacing, [1 / (n - 1)] * 3)
        found = {a.get("Name"): Item(a[0], dumps).data for a in grid.findall("Attribute")}

        def get(name, number, found=found):
            data, size = found[name], len(found[name]) // n**3
            return tuple(data[3 * number :][:3]) if size == 3 else data[number]

        count += compare(dumps, d, "xdmf", get)
    return count


# VTI


def read_vti(path, n):
    with open(path, "rb") as file:
        text = file.read()
    at = text.index(b"_", text.index(b"<AppendedData")) + 1
    end = text.index(b"\n</AppendedData>", len(text) - 40)
    root = xml.fromstring(text[:at] + text[end:])
    demand("header_type", root.get("header_type"), "UInt64")
    order = {"LittleEndian": "<", "BigEndian": ">"}[root.get("byte_order")]
    image = root.find("ImageData")
    demand("extent", image.get("WholeExtent"), f"0 {n - 1} 0 {n - 1} 0 {n - 1}")
    demand("piece", image.find("Piece").get("Extent"), image.get("WholeExtent"))
    demand("origin", image.get("Origin"), "0 0 0")
    demand("spacing", [float(x) for x in image.get("Spacing").split()], [1 / (n - 1)] * 3)
    found, last = {}, 0
    for array in image.findall("Piece/PointData/DataArray"):
        size, start = int(array.get("NumberOfComponents")), at + int(array.get("offset"))
        length = struct.unpack_from(order + "Q", text, start)[0]
        demand("length of an array", length, 8 * size * n**3)
        data = struct.unpack_from(f"{order}{size * n ** 3}d", text, start + 8)
        found[array.get("Name")] = (size, data)
        last = start + 8 + 8 * size * n**3
    demand("end of the data", last, end)
    return float(image.find("FieldData/DataArray").text), found


def check_vti(dumps, wanted):
    entries, count = xml.parse(dumps.path + ".pvd").findall("Collection/DataSet"), 0
    demand("entries", len(entries), len(wanted))
    for entry, d in zip(entries, wanted):
        demand("time", float(entry.get("timestep")), dumps.time[d])
        time, found = read_vti(join(dirname(dumps.path), entry.get("file")), dumps.n)
        demand("time", time, dumps.time[d])

        def get(name, number, found=found):
            size, data = found[name]
            return tuple(data[3 * number :][:3]) if size == 3 else data[number]

        count += compare(dumps, d, "vti", get)
    return count


# PLOT3D


def check_plot3d(dumps, wanted):
    n, count, folder = dumps.n, 0, dirname(dumps.path)
    order = {"little": "<", "big": ">"}[sys.byteorder]
    with open(dumps.path + ".p3d", encoding="utf-8") as file:
        entries = json.load(file)["filenames"]
    demand("entries", len(entries), len(wanted))
    for entry, d in zip(entries, wanted):
        demand("time", entry["time"], dumps.time[d])
        with open(join(folder, entry["xyz"]), "rb") as file:
            grid = struct.unpack(f"{order}3i{3 * n ** 3}d", file.read())
        with open(join(folder, entry["q"]), "rb") as file:
            flow = struct.unpack(f"{order}3i4d{5 * n ** 3}d", file.read())
        demand("size of the grid", grid[:3], (n, n, n))
        demand("header", flow[:7], (n, n, n, 0, 0, 0, dumps.time[d]))
        for number, at in enumerate(dumps.points()):
            for q in range(3):
                demand("coordinate", grid[3 + q * n**3 + number], at[q] * (1 / (n - 1)))
            for m in range(COMPS):
                demand(f"U_{m} at {at}", flow[7 + m * n**3 + number], dumps.value(d, m, *at))
                count += 1
    return count


def main(name, n, layout, endian, *wanted):
    dumps, wanted = Dumps(name, int(n), layout, endian), [int(d) for d in wanted]
    for check in (check_xdmf,) if dumps.raw else (check_xdmf, check_vti, check_plot3d):
        print(check.__name__, check(dumps, wanted))


if __name__ == "__main__":
    main(*sys.argv[1:])
