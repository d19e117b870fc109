#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""report_labels.py DIR [NAME...]: draws the figures in a folder of nht1-report --figures again, and
fails when labels of an axis run into each other or out of the picture."""
import glob
import os
import runpy
import sys

os.chdir(sys.argv[1])
sys.path.insert(0, os.getcwd())
sys.dont_write_bytecode = True
import nht1_draw  # noqa: E402

bad, seen = [], 0


def check(name, title, panels):
    global seen
    figure = nht1_draw.figure(title, panels, nht1_draw.read(name + '.csv'))
    figure.canvas.draw()
    render = figure.canvas.get_renderer()
    for axes in figure.axes:
        if not axes.get_visible():
            continue
        for which, side in ((axes.xaxis, 0), (axes.yaxis, 1)):
            low, high = sorted(which.get_view_interval())
            texts = [t for v, t in zip(which.get_ticklocs(), which.get_ticklabels())
                     if t.get_text() and low <= v <= high]
            boxes = sorted((t.get_window_extent(render) for t in texts),
                           key=lambda b: b.get_points()[0][side])
            seen += len(boxes)
            rotated = any(t.get_rotation() for t in texts)
            for a, b in zip(boxes, boxes[1:]):
                if not rotated and b.get_points()[0][side] < a.get_points()[1][side] - 1:
                    bad.append('%s: labels of %s overlap: %s' % (
                        name, 'xy'[side], [t.get_text() for t in texts]))
                    break
            for box in boxes:
                if box.x0 < -1 or box.y0 < -1 or box.x1 > figure.bbox.x1 + 1:
                    bad.append('%s: a label of %s leaves the picture' % (name, 'xy'[side]))
        legend = axes.get_legend()
        if legend and legend.get_window_extent(render).x1 > figure.bbox.x1 + 1:
            bad.append('%s: the key leaves the picture' % name)


nht1_draw.draw = check
for script in sorted(glob.glob('*.py')):
    if script != 'nht1_draw.py' and script[:-3] in (sys.argv[2:] or [script[:-3]]):
        runpy.run_path(script)
print('\n'.join(bad))
sys.exit(bool(bad) or seen == 0)
