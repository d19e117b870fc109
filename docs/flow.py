#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws docs/flow.png, for ParaView's Python:

    pvpython docs/flow.py flow.bin.xdmf flow.png [NUMBER]     NUMBER: of the time step, from 0; 1

Surfaces of equal pressure, cut open, and stream lines outside of them. Opens the FILE.pvd of an
export to VTI as well."""
import sys

from paraview.simple import (Clip, ColorBy, Contour, CreateRenderView,
                             GetColorTransferFunction, GetScalarBar, OpenDataFile, Outline, Render,
                             SaveScreenshot, Show, StreamTracer, XDMFReader)

LEVELS = (0.2, 0.35, 0.5, 0.65, 0.8, 0.95)  # of the range of the pressure


def main(path, picture, number=1):
    # Of several readers of XDMF only the one for version 2 knows these files.
    flow = XDMFReader(FileNames=[path]) if path.endswith(".xdmf") else OpenDataFile(path)
    flow.UpdatePipelineInformation()
    time = flow.TimestepValues[int(number)]
    flow.UpdatePipeline(time)
    low, high = flow.PointData["pressure"].GetRange()
    levels = [low + (high - low) * level for level in LEVELS]
    view = CreateRenderView(ViewSize=[760, 600], Background=[1, 1, 1],
                            UseColorPaletteForBackground=0, OrientationAxesVisibility=0)
    view.ViewTime = time

    edges = Show(Outline(Input=flow), view)
    edges.AmbientColor = edges.DiffuseColor = [0.35] * 3
    edges.LineWidth = 1.5

    # The part of the cube that is nearest is cut out.
    shells = Contour(Input=flow, ContourBy=["POINTS", "pressure"], Isosurfaces=levels)
    opened = Clip(Input=shells, ClipType="Box", Invert=0)
    opened.ClipType.Position, opened.ClipType.Length = [0.5, -0.01, 0.5], [0.6, 0.51, 0.6]
    shown = Show(opened, view)
    shown.Specular, shown.Ambient = 0.3, 0.15
    ColorBy(shown, ("POINTS", "pressure"))
    colours = GetColorTransferFunction("pressure")
    colours.ApplyPreset("Turbo", True)
    colours.RescaleTransferFunction(levels[0] / 2, high)
    bar = GetScalarBar(colours, view)
    shown.SetScalarBarVisibility(view, True)
    bar.Title, bar.ComponentTitle = "pressure", ""
    bar.TitleColor = bar.LabelColor = [0.1] * 3
    bar.TitleFontSize = bar.LabelFontSize = 18
    bar.WindowLocation, bar.Position, bar.ScalarBarLength = "Any Location", [0.87, 0.28], 0.45
    bar.Orientation = "Vertical"
    bar.AutomaticLabelFormat, bar.LabelFormat, bar.AddRangeLabels = 0, "%.4g", 0

    # Stream lines end where they enter the outermost surface: inside they would hide the others.
    lines = StreamTracer(Input=flow, Vectors=["POINTS", "velocity"], SeedType="Point Cloud")
    lines.SeedType.Center, lines.SeedType.Radius = [0.5] * 3, 0.6
    lines.SeedType.NumberOfPoints, lines.MaximumStreamlineLength = 150, 3
    outside = Clip(Input=lines, ClipType="Scalar", Scalars=["POINTS", "pressure"],
                   Value=0.95 * levels[0], Invert=1)
    shown = Show(outside, view)
    ColorBy(shown, None)
    shown.AmbientColor = shown.DiffuseColor = [0.62, 0.62, 0.72]
    shown.LineWidth, shown.RenderLinesAsTubes = 2.5, 1

    Render(view)  # the first time moves the camera
    view.CameraPosition, view.CameraViewUp = [3.0, -2.2, 2.2], [0, 0, 1]
    view.CameraFocalPoint, view.CameraViewAngle = [0.58, 0.57, 0.44], 23.2
    Render(view)
    SaveScreenshot(picture, view, CompressionLevel="9")
    print(f"{picture}: t = {time:g}, pressure {low:.4g} to {high:.4g}")


main(*sys.argv[1:])
