# SPDX-License-Identifier: GPL-3.0-or-later
"""Scripts for batch systems. The script starts the driver inside the allocation; when its time is
over, submitting it again goes on."""
SYSTEMS = {'slurm': None, 'pbs': None, 'lsf': None}
OPTIONS = (
    ('nodes', '1', 'with --job: nodes to ask for'),
    ('time', None, 'with --job: minutes to ask for; default: the estimate, doubled'),
    ('queue', None, 'with --job: partition or queue'),
    ('account', None, 'with --job: whom to charge'),
)


def write(args, name, description):
    raise NotImplementedError
