# SPDX-License-Identifier: GPL-3.0-or-later
"""How a program is started on so many ranks: mpirun of Open MPI or MPICH, srun, or nothing. Ranks
are not bound, so that the threads of a rank may use every core; where there are more ranks than
cores they are allowed to be, and yield while they wait."""
import os
import shutil

from . import child
from ..trouble import failed, usage

ASK_S = 60

# Variables that change what is measured; recorded with every run. Others may hold secrets.
RECORDED = ('OMP_', 'GOMP_', 'KMP_', 'OMPI_', 'PMIX_', 'PRTE_', 'MPICH_', 'HYDRA_', 'MPIR_', 'MPL_',
            'I_MPI_', 'FI_', 'UCX_', 'ROMIO_', 'SLURM_', 'PBS_', 'LSB_', 'NHT1_', 'MPIRUN')
RECORDED_TOO = ('LD_LIBRARY_PATH', 'LD_PRELOAD', 'LANG', 'LC_ALL', 'XDG_STATE_HOME')


def recorded(environment):
    """The part of an environment that belongs into the record of a run."""
    return {k: v for k, v in sorted(environment.items())
            if k.startswith(RECORDED) or k in RECORDED_TOO}


def _physical_cores():
    """Cores that this process may use; of two threads of a core one counts."""
    allowed = os.sched_getaffinity(0)
    cores = set()
    for cpu in allowed:
        folder = '/sys/devices/system/cpu/cpu%d/topology/' % cpu
        try:
            with open(folder + 'physical_package_id') as package, open(folder + 'core_id') as core:
                cores.add((package.read(), core.read()))
        except OSError:
            cores.add(cpu)
    return max(1, min(len(cores), len(allowed)))


def _first_number(text):
    digits = ''.join(c if c.isdigit() else ' ' for c in text or '').split()
    return int(digits[0]) if digits else None


def _pbs_lines():
    try:
        with open(os.environ['PBS_NODEFILE']) as nodes:
            return [line.strip() for line in nodes if line.strip()]
    except (KeyError, OSError):
        return []


def _memory_gb():
    """Of this node, 0 when it is not known."""
    try:
        return os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 1e9
    except (ValueError, OSError):
        return 0.0


def system():
    """{cores, nodes, memory_gb}: of the allocation of a batch system, else of this computer;
    memory: of all nodes together, taken to be like this one."""
    found = _cores_and_nodes()
    return dict(found, memory_gb=round(found['nodes'] * _memory_gb(), 1))


def _cores_and_nodes():
    environment = os.environ
    nodes = _first_number(environment.get('SLURM_JOB_NUM_NODES'))
    if nodes:
        each = _first_number(environment.get('SLURM_CPUS_ON_NODE')) or _physical_cores()
        return {'cores': nodes * each, 'nodes': nodes}
    lines = _pbs_lines()
    if lines:
        nodes = len(set(lines))
        return {'cores': max(len(lines), nodes * (_first_number(environment.get('NCPUS')) or 1)),
                'nodes': nodes}
    slots = _first_number(environment.get('LSB_DJOB_NUMPROC'))
    if slots:
        hosts = environment.get('LSB_MCPU_HOSTS', '').split()[::2]
        return {'cores': slots, 'nodes': max(1, len(hosts))}
    return {'cores': _physical_cores(), 'nodes': 1}


def _open_mpi(ranks, threads, cores):
    words = ['--bind-to', 'none']
    if ranks > cores:
        words += ['--oversubscribe', '--mca', 'mpi_yield_when_idle', '1']
    return words


def _mpich(ranks, threads, cores):
    return ['-bind-to', 'none']


def _srun(ranks, threads, cores):
    words = ['--cpu-bind=none', '--kill-on-bad-exit=1', '--cpus-per-task=%d' % threads]
    return words + (['--overcommit'] if ranks * threads > cores else [])


def _plain(ranks, threads, cores):
    return []


# What --version says -> kind; kind -> options.
SIGNS = (('open mpi', 'openmpi'), ('openrte', 'openmpi'), ('prrte', 'openmpi'),
         ('prte', 'openmpi'), ('hydra', 'mpich'), ('mpich', 'mpich'), ('intel', 'mpich'),
         ('slurm', 'srun'))
OPTIONS = {'openmpi': _open_mpi, 'mpich': _mpich, 'srun': _srun, 'unknown': _plain}


def _mpi_of_srun(path):
    """srun offers several ways to start MPI; Open MPI needs pmix where there is one."""
    if os.environ.get('SLURM_MPI_TYPE'):
        return []
    status, out, err = child.ask([path, '--mpi=list'], ASK_S)
    return ['--mpi=pmix'] if 'pmix' in (out + err).replace(',', ' ').split() else []


class Launcher:
    """.name as asked, .path, .kind, .version; .command() makes the words, .environment() the
    variables of a run."""

    def __init__(self, name, flags, where, trusted=True):
        """trusted: False in a dry run of a description that names a launcher: it is not started,
        and what has to be asked is asked without one."""
        self.cores, self.nodes, self.flags = where['cores'], where['nodes'], flags
        if name == 'auto':
            name = os.environ.get('MPIRUN') or 'mpirun'
        self.name, self.path, self.kind, self.version = name, None, 'none', ''
        if name != 'none' and trusted:
            self._find()

    def _find(self):
        self.path = shutil.which(self.name)
        if self.path is None:
            raise failed("launcher '%s' is not there: 'make setup' installs an MPI library, "
                         '--launcher names another one' % self.name)
        status, out, err = child.ask([self.path, '--version'], ASK_S)
        self.version = ((out + err).strip().splitlines() or [''])[0]
        words = (out + err).lower()
        self.kind = next((kind for sign, kind in SIGNS if sign in words), 'unknown')
        if self.kind == 'srun':
            self.flags = _mpi_of_srun(self.path) + self.flags

    def command(self, ranks, threads, words):
        if self.kind == 'none':
            if ranks > 1:
                raise usage('launcher = none starts one rank, and a point has %d' % ranks)
            return list(words)
        options = OPTIONS[self.kind](ranks, threads, self.cores)
        count = '--ntasks' if self.kind == 'srun' else '-np'
        return [self.name, count, str(ranks)] + options + self.flags + list(words)

    def environment(self, ranks, threads, extra):
        """All variables for a run: this process's, and what the point adds."""
        environment = dict(os.environ)
        environment['OMP_NUM_THREADS'] = str(threads)
        if ranks * threads > self.cores:
            environment.setdefault('OMP_WAIT_POLICY', 'passive')
        if self.kind == 'openmpi' and os.geteuid() == 0:
            environment['OMPI_ALLOW_RUN_AS_ROOT'] = '1'
            environment['OMPI_ALLOW_RUN_AS_ROOT_CONFIRM'] = '1'
        if self.kind == 'srun' and ranks > self.cores:
            environment.setdefault('OMPI_MCA_mpi_yield_when_idle', '1')
        environment.update(extra)
        return environment
