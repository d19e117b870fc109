# SPDX-License-Identifier: GPL-3.0-or-later
"""How a program is started on so many ranks: mpirun of Open MPI or MPICH, srun, or nothing. Studies
start their runs so, tests and scripts by tests/mpi-run. Ranks are not bound, so that the threads of
a rank may use every core; where there are more ranks than cores they are allowed to be, and yield
while they wait.

tests/mpi-run comes this way more than a thousand times: what takes longer to import than it does is
imported where it is needed."""
import os
import sys

from ..trouble import Trouble, failed, usage

# The source tree, or share/nht1 of a build folder or of an installation, as in tools.py.
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))))
ASK_S = 60
START_S = 1800  # of tests/mpi-run: ends what hangs

# Variables that change what is measured; recorded with every run. Others may hold secrets.
RECORDED = ('OMP_', 'GOMP_', 'KMP_', 'OMPI_', 'PMIX_', 'PRTE_', 'MPICH_', 'HYDRA_', 'MPIR_', 'MPL_',
            'I_MPI_', 'FI_', 'UCX_', 'ROMIO_', 'SLURM_', 'PBS_', 'LSB_', 'NHT1_', 'MPIRUN')
RECORDED_TOO = ('LD_LIBRARY_PATH', 'LD_PRELOAD', 'LANG', 'LC_ALL', 'XDG_STATE_HOME')

# Those of them that a run needs to be made again elsewhere. The others belong to the job of a batch
# system, or to one that has ended.
REPEATED = ('OMP_', 'GOMP_', 'KMP_', 'OMPI_MCA_', 'OMPI_ALLOW_RUN_AS_ROOT', 'PMIX_MCA_', 'PRTE_MCA_',
            'MPICH_', 'HYDRA_', 'MPIR_', 'MPL_', 'I_MPI_', 'FI_', 'UCX_', 'ROMIO_')
REPEATED_TOO = ('LD_LIBRARY_PATH', 'LD_PRELOAD', 'XDG_STATE_HOME', 'NHT1_ISA', 'SLURM_MPI_TYPE')

# What --version says -> kind.
SIGNS = (('open mpi', 'openmpi'), ('openrte', 'openmpi'), ('prrte', 'openmpi'),
         ('prte', 'openmpi'), ('hydra', 'mpich'), ('mpich', 'mpich'), ('intel', 'mpich'),
         ('slurm', 'srun'))

# How the names of processes begin in which launchers start ranks; as companions/profile/main.c has them.
STARTERS = ('slurmstepd', 'mpirun', 'mpiexec', 'orte', 'prte', 'hydra')

# The program that a name leads to -> kind: enough where nobody wants its version.
PROGRAMS = {'orterun': 'openmpi', 'prterun': 'openmpi', 'mpiexec.hydra': 'mpich'}


def recorded(environment):
    """The part of an environment that belongs into the record of a run."""
    return {k: v for k, v in sorted(environment.items())
            if k.startswith(RECORDED) or k in RECORDED_TOO}


def repeated(environment):
    """The part of a record that is needed to make its run again, beside what a study set."""
    return {k: v for k, v in environment.items() if k.startswith(REPEATED) or k in REPEATED_TOO}


# --- Where the ranks run --------------------------------------------------------------------------

def system():
    """{cores, nodes, memory_gb}: of the allocation of a batch system, else of this computer;
    memory: of all nodes together, taken to be like this one."""
    cores, nodes = _allocation() or (_physical_cores(), 1)
    try:
        memory = os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 1e9
    except (ValueError, OSError):
        memory = 0.0  # not known
    return {'cores': cores, 'nodes': nodes, 'memory_gb': round(nodes * memory, 1)}


def _allocation():
    """(cores, nodes) of a job of Slurm, PBS or LSF, None outside of one."""
    def number(name):
        digits = ''.join(c if c.isdigit() else ' ' for c in os.environ.get(name, '')).split()
        return int(digits[0]) if digits else None
    nodes, slots = number('SLURM_JOB_NUM_NODES'), number('LSB_DJOB_NUMPROC')
    if nodes:
        return nodes * (number('SLURM_CPUS_ON_NODE') or _physical_cores()), nodes
    try:
        with open(os.environ['PBS_NODEFILE']) as hosts:
            lines = [line.strip() for line in hosts if line.strip()]
    except (KeyError, OSError):
        lines = []
    if lines:
        nodes = len(set(lines))
        return max(len(lines), nodes * (number('NCPUS') or 1)), nodes
    if slots:
        return slots, max(1, len(os.environ.get('LSB_MCPU_HOSTS', '').split()[::2]))
    return None


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


# --- The launcher ---------------------------------------------------------------------------------

def of_build(program=None):
    """The launcher of the MPI library that the programs were linked with, as the build noted it
    (runs/rules.mk): those beside `program`, else those of $NHT1_BIN or of this installation."""
    folders = [os.path.dirname(_which(program) or '')] if program else []
    named = os.environ.get('NHT1_BIN')
    folders += [named] if named else [os.path.join(ROOT, 'build', 'bin'), os.path.join(ROOT, '..', '..', 'bin')]
    for folder in filter(None, folders):
        try:
            with open(os.path.join(folder, '..', 'share', 'nht1', 'runs', 'launcher')) as f:
                return f.read().strip() or 'mpirun'
        except OSError:
            continue
    return 'mpirun'


def _which(name):
    """shutil.which, without all that comes with it."""
    folders = [''] if os.path.dirname(name) else os.get_exec_path()
    paths = (os.path.join(folder, name) for folder in folders)
    return next((p for p in paths if os.path.isfile(p) and os.access(p, os.X_OK)), None)


def kind_of(words):
    """The kind of launcher that --version, or the name of an MPI library, tells; 'unknown'."""
    return next((kind for sign, kind in SIGNS if sign in words.lower()), 'unknown')


def options_of(kind, ranks, threads, cores):
    """What a launcher gets beside the number of ranks."""
    if kind == 'openmpi':
        return ['--bind-to', 'none'] + (['--oversubscribe', '--mca', 'mpi_yield_when_idle', '1']
                                        if ranks > cores else [])
    if kind == 'mpich':
        return ['-bind-to', 'none']
    if kind == 'srun':
        return ['--cpu-bind=none', '--kill-on-bad-exit=1', '--cpus-per-task=%d' % threads] + (
            ['--overcommit'] if ranks * threads > cores else [])
    return []


def parent():
    """The name of the process that has started this one, '' where that cannot be seen."""
    try:
        with open('/proc/%d/comm' % os.getppid()) as f:
            return f.read().strip()
    except OSError:
        return ''


def launched(environment, by):
    """The variable, as 'NAME=VALUE', that tells that a launcher has started this process: with others, or Open MPI's, which
    starts none from within. '' where none has: a shell or a batch job may only have come by such a variable. by: parent()."""
    if by.startswith(STARTERS):
        for name in ('OMPI_COMM_WORLD_SIZE', 'PMI_SIZE', 'SLURM_STEP_NUM_TASKS'):
            if environment.get(name, '1') != '1' or name in environment and name.startswith('OMPI_'):
                return '%s=%s' % (name, environment[name])
    return ''


class Launcher:
    """.name as asked, .path, .kind, .version; .command() makes the words, .environment() the
    variables of a run."""

    def __init__(self, name, flags, cores, nodes=1, trusted=True, versioned=True, program=None):
        """trusted: False in a dry run of a description that names a launcher: it is not started,
        and what has to be asked is asked without one. versioned: False where .version is not needed.
        program: that 'auto' is to fit, where it is known."""
        self.cores, self.nodes, self.flags = cores, nodes, flags
        if name == 'auto':
            name = os.environ.get('MPIRUN') or of_build(program)
        self.name, self.path, self.kind, self.version = name, None, 'none', ''
        if name != 'none' and trusted:
            self._find(versioned)

    def _find(self, versioned):
        self.path = _which(self.name)
        if self.path is None:
            raise failed("launcher '%s' is not there: 'make setup' installs an MPI library; "
                         'MPIRUN, and --launcher of a study, name another one' % self.name)
        self.kind = PROGRAMS.get(os.path.basename(os.path.realpath(self.path)))
        if self.kind and not versioned:
            return
        from . import child  # takes longer than all of start()
        _, out, err = child.ask([self.path, '--version'], ASK_S)
        self.version = ((out + err).strip().splitlines() or [''])[0]
        self.kind = kind_of(out + err)
        # srun offers several ways to start MPI; Open MPI needs pmix where there is one.
        if self.kind == 'srun' and not os.environ.get('SLURM_MPI_TYPE'):
            _, out, err = child.ask([self.path, '--mpi=list'], ASK_S)
            if 'pmix' in (out + err).replace(',', ' ').split():
                self.flags = ['--mpi=pmix'] + self.flags

    def command(self, ranks, threads, words):
        if self.kind == 'none' and ranks > 1:
            raise usage('launcher = none starts one rank, and a point has %d' % ranks)
        if self.kind == 'none':
            return list(words)
        options = options_of(self.kind, ranks, threads, self.cores)
        count = '--ntasks' if self.kind == 'srun' else '-np'
        return [self.name, count, str(ranks)] + options + self.flags + list(words)

    def variables(self, ranks, threads):
        """Those that ranks get, and those that they get unless they are set."""
        given, unless_set = {'OMP_NUM_THREADS': str(threads)}, {}
        if ranks * threads > self.cores:
            unless_set['OMP_WAIT_POLICY'] = 'passive'
        if self.kind == 'openmpi' and os.geteuid() == 0:
            given['OMPI_ALLOW_RUN_AS_ROOT'] = given['OMPI_ALLOW_RUN_AS_ROOT_CONFIRM'] = '1'
        if self.kind == 'srun' and ranks > self.cores:
            unless_set['OMPI_MCA_mpi_yield_when_idle'] = '1'
        return given, unless_set

    def environment(self, ranks, threads, extra):
        """All variables for a run: this process's, and what the point adds."""
        given, unless_set = self.variables(ranks, threads)
        return {**unless_set, **os.environ, **given, **extra}


# --- tests/mpi-run --------------------------------------------------------------------------------

def start(argv):
    """Becomes the launcher of a program: [-np RANKS] [-t SECONDS] PROGRAM [ARGUMENT...]. Returns an
    exit status only where that cannot be."""
    told = {'-np': '', '-t': str(START_S)}
    while argv and argv[0].startswith('-'):
        name = '-np' if argv[0] == '-n' else argv[0]
        told[name], argv = ''.join(argv[1:2]), argv[2:]
    if len(told) > 2 or not argv or not all(v.isdecimal() for v in told.values()):
        sys.stderr.write('usage: tests/mpi-run -np RANKS [-t SECONDS] PROGRAM [ARGUMENT...]\n')
        return 1
    ranks, threads = int(told['-np']), os.environ.get('OMP_NUM_THREADS') or '1'
    each = int(threads) if threads.isdecimal() else 1
    try:
        flags = os.environ.get('MPIRUN_FLAGS', '')
        if flags:
            import shlex
            flags = shlex.split(flags)
        launcher = Launcher('auto', list(flags), system()['cores'], versioned=False, program=argv[0])
        words = launcher.command(ranks, each, argv)
        environment = launcher.environment(ranks, each, {'OMP_NUM_THREADS': threads})
    except Trouble as e:
        sys.stderr.write('tests/mpi-run: %s\n' % e)
        return e.status
    memo = environment.pop('NHT1_LAUNCH', '')
    if memo:
        _note(memo, words[:len(words) - len(argv)], *launcher.variables(ranks, each))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    import _signal
    for number in (_signal.SIGPIPE, _signal.SIGXFSZ):  # Python ignores them, and so would its heirs
        _signal.signal(number, _signal.SIG_DFL)
    os.execvpe('timeout', ['timeout', '--foreground', '-k', '60', told['-t']] + words, environment)


def _note(path, words, given, unless_set):
    """The same start as a script for tests/mpi-run, which has the time limit in $limit."""
    import shlex
    lines = ['export %s=%s' % v for v in given.items()] + ['export %s="${%s-%s}"' % (k, k, v) for k, v in unless_set.items()]
    lines += ['unset NHT1_LAUNCH', 'exec timeout --foreground -k 60 "$limit" %s "$@" </dev/null' % shlex.join(words), '']
    try:
        with open('%s.%d' % (path, os.getpid()), 'w') as f:
            f.write('\n'.join(lines))
        os.rename(f.name, path)
    except OSError:
        pass  # the next start takes as long as this one
