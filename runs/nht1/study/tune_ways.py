# SPDX-License-Identifier: GPL-3.0-or-later
"""Ways to write that runs/study tune compares: a writer, its settings, and the MPI-IO component that it
runs under."""
import os
import re
import shutil

from .. import trouble
from ..search import COMPONENT
from . import child, launch, programs

PLAIN = 'posix'  # the writer of who has no reason for another
# Writers that go through MPI-IO, and obey its components and hints.
THROUGH_MPIIO = ('mpiio', 'hdf5', 'pnetcdf')
OTHER_FORMATS = ('hdf5', 'pnetcdf', 'perrank')


class Way:
    """A way to write: a writer with its settings, under an MPI-IO component where it has one to obey."""

    def __init__(self, component, label, options):
        self.label, self.writer, self.options = label, label.split(' ')[0], options
        self.component = component if self.writer.startswith(THROUGH_MPIIO) else ''

    def cost(self, default_component):
        """How much it asks for beyond plain writing: the writer, each option; above all these another
        component than the one in force; above that another file format."""
        settings = sum(len(value.split()) if key == 'hint' else 1 for key, value in self.options.items())
        return ((self.writer != PLAIN) + settings +
                (100 if self.component and self.component != default_component else 0) +
                (1000 if self.writer.startswith(OTHER_FORMATS) else 0))

    @property
    def name(self):
        return '%s (%s)' % (self.label, self.component) if self.component else self.label

    @property
    def key(self):
        return self.component, self.label

    def settings(self):
        """{key: value} of its section in a description."""
        found = {'env.' + COMPONENT: self.component} if self.component else {}
        return dict(found, io=self.writer, **self.options)


def settings_of(words, program, ours=(), whose=''):
    """{key: value} of a description from words as programs.given reads them."""
    found = {}
    for name, value in programs.given(words, program, 'tune', ours, whose):
        value = 'yes' if value is None else value
        found[name] = '%s %s' % (found[name], value) if name in found and name in program.lists else value
    return found


def components(launcher):
    """The MPI-IO components that can be chosen by $OMPI_MCA_io; [''] where there is no choice."""
    if os.environ.get(COMPONENT):
        # A word of descriptions, and the name of a folder.
        if not re.fullmatch('[A-Za-z0-9_^][A-Za-z0-9_,-]{0,99}', os.environ[COMPONENT]):
            raise trouble.usage('$%s: %r names no component' % (COMPONENT, os.environ[COMPONENT][:100]))
        return [os.environ[COMPONENT]]
    if launcher.kind not in ('openmpi', 'srun'):
        return ['']
    beside = os.path.dirname(os.path.abspath(launcher.path or ''))
    path = shutil.which('ompi_info', path=beside) or shutil.which('ompi_info')
    if path is None:
        return ['']
    try:
        _, out, _ = child.ask([path, '--parsable', '--param', 'io', 'all'], launch.ASK_S)
    except OSError:
        out = ''
    return list(dict.fromkeys(re.findall(r'^mca:io:(\w+):version', out, re.M))) or ['']


def plain():
    """Plain writing as it stands."""
    return Way('', PLAIN, {})
