# SPDX-License-Identifier: GPL-3.0-or-later
"""One run of a program: a process group of its own, that ends when its time is up, when the driver
is told to stop, and when the driver is killed."""
import ctypes
import os
import re
import signal
import subprocess
import time

from .. import text, trouble

GRACE_S = 15      # between asking a run to end and ending it
POLL_S = 0.05
PR_SET_PDEATHSIG = 1
# What tells a process that it is one of a job: variables of launchers and batch systems, but for settings.
OF_A_JOB = re.compile(r'(SLURM_|PMI_|PMIX_(?!MCA_)|OMPI_COMM_WORLD_|FLUX_TASK_)')
# What Open MPI adds to stderr: banners of mpirun, those of them that tell an exit status; and lines between others, of which
# some are a rank's that crashes; and Slurm's srun.
BANNER = re.compile(r'^-{74}\n(.*?)^-{74}$', re.M | re.S)
OF_STATUS = re.compile(r'Primary job |\S+ detected that one or more processes exited with non-zero status')
REMARK = re.compile(r"-----|srun: |slurmstepd: |Type '\S+ --help' for usage|"
                    r'\[\S+:\d+\] (\d+ more process|Set MCA parameter "\S+_help_aggregate"|'
                    r'\*\*\* |Signal( code)?: |Failing at address: |\[ ?\d+\] )')
MPI_ERROR = re.compile(r'\[\S+:\d+\] \*\*\* (MPI_ERR_\w+: .*)')  # the one line of several that says what it was

try:
    _prctl = ctypes.CDLL(None, use_errno=True).prctl
except (OSError, AttributeError):
    _prctl = None


class Stop:
    """Whether somebody asked this command to stop. The second time, nothing is waited for. Commands of several steps
    have one for each; what is asked between two of them holds for all."""
    asked = 0

    def install(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            Stop.asked += getattr(signal.getsignal(number), 'asked', 0)  # before, and lost
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # by nohup
                signal.signal(number, self._take)

    def _take(self, number, frame):
        Stop.asked += 1


def _with_parent():
    """In the child: when the driver goes, the launcher is told to end, and ends its ranks."""
    if _prctl:
        _prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _signal(process, number):
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def _end(process, stop):
    """Asks, waits, ends."""
    _signal(process, signal.SIGTERM)
    deadline, asked = time.monotonic() + GRACE_S, stop.asked
    while process.poll() is None and time.monotonic() < deadline and stop.asked == asked:
        time.sleep(POLL_S)
    _signal(process, signal.SIGKILL)
    process.wait()


def ask(words, timeout_s, environment=None):
    """Runs a command that answers at once: (exit status, stdout, stderr), status None when it did
    not answer in time. It ends with all that it has started. OSError when it cannot be started."""
    process = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=_with_parent, start_new_session=True)
    try:
        out, err = process.communicate(timeout=timeout_s)
        status = process.returncode
    except subprocess.TimeoutExpired:
        _signal(process, signal.SIGKILL)
        out, err = process.communicate()
        status = None
    except BaseException:
        _signal(process, signal.SIGKILL)
        raise
    return status, out.decode('utf-8', 'replace'), err.decode('utf-8', 'replace')


def about(path, option, timeout_s):
    """ask() for what a program says of itself, --help or --version: as outside of any job, since in a step of one it may
    start MPI first, and cannot there."""
    return ask([path, option], timeout_s, {k: v for k, v in os.environ.items() if not OF_A_JOB.match(k)})


def last_words_of(said):
    """The last line that a program left on stderr. What mpirun or srun says counts where there is nothing else, but for
    its banners about an exit status, which say no more than that."""
    lines = [l.strip() for l in said.splitlines()]
    ours = next((l for l in lines if l.startswith('nht1-')), None)
    own = [l.strip() for l in BANNER.sub('', said).splitlines() if re.search(r'\w', l) and not REMARK.match(l)]
    banners = [' '.join(b.split()) for b in BANNER.findall(said) if not OF_STATUS.match(b)]
    banners += [l for l in lines if l.startswith('srun: ')]
    banners += [found[1] for found in map(MPI_ERROR.match, lines) if found]
    return text.clean(ours or (own or banners or ['it printed nothing'])[-1], 300)


def run(command, environment, folder, timeout_s, stop, tick, cwd=None):
    """Runs a command to its end. folder: takes stdout and stderr. cwd: the folder it runs in,
    None: this one. tick(seconds) is called now and
    then, and at the end. Returns (exit status, seconds, why), why being None, 'interrupted' or
    'timed out'; a signal counts as 128 + its number."""
    began = time.monotonic()
    try:
        with open(os.path.join(folder, 'stdout'), 'wb') as out, \
                open(os.path.join(folder, 'stderr'), 'wb') as err:
            process = subprocess.Popen(command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=err, preexec_fn=_with_parent, start_new_session=True)
            why = _watch(process, began + timeout_s, stop, tick, began)
            if why:
                _end(process, stop)
    except OSError as e:
        if e.filename is not None:
            raise
        raise OSError(e.errno, e.strerror, folder)  # closing does not name its file
    seconds = time.monotonic() - began
    tick(seconds)
    status = process.returncode if process.returncode >= 0 else 128 - process.returncode
    return (trouble.TIMED_OUT if why == 'timed out' else status), seconds, why


def _watch(process, deadline, stop, tick, began):
    pause = POLL_S / 10
    while process.poll() is None:
        if stop.asked:
            return 'interrupted'
        if time.monotonic() > deadline:
            return 'timed out'
        tick(time.monotonic() - began)
        time.sleep(pause)
        pause = min(POLL_S * 4, pause * 1.5)
    return None
