# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the programs and files of this installation are, and a Python that has the libraries."""
import configparser
import functools
import importlib.util
import os
import shutil
import subprocess
import sys

# The source tree, or share/nht1 of a build folder or of an installation.
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def called(text):
    """A text that names runs/study, with the name that this command was started by."""
    installed = os.path.basename(sys.argv[0]).startswith('nht1-')
    return text.replace('runs/study', 'nht1-study') if installed else text


def path(name):
    """Absolute path of a program of nht1, or of any other; None when it is not there. $NHT1_BIN
    names the folder; else it is the one that belongs to these files."""
    folders = os.environ.get('NHT1_BIN') or os.pathsep.join(
        os.path.join(ROOT, *below) for below in (('build', 'bin'), ('..', '..', 'bin')))
    found = shutil.which(name, path=folders) or shutil.which(name)
    return os.path.abspath(found) if found else None


def made(name):
    """Path of a file that the build makes for these programs, beside the launcher's name: NAME of
    share/nht1/runs of the folder of the programs, which a link to one of them leads to."""
    folder = os.path.dirname(os.path.realpath(path('nht1-stats') or os.path.join(ROOT, 'build', 'bin', 'none')))
    return os.path.join(folder, '..', 'share', 'nht1', 'runs', name)


@functools.lru_cache(maxsize=None)
def programs():
    """The list of programs, by name, in its order: config/programs.conf says what it knows of them."""
    listed = configparser.ConfigParser(delimiters=('=',), interpolation=None)
    with open(os.path.join(ROOT, 'config', 'programs.conf'), encoding='utf-8') as f:
        listed.read_file(f)
    return {name: dict(listed[name]) for name in listed.sections()}


def _has(python, modules):
    check = ('import importlib.util, sys; sys.exit(sys.version_info < (3, 9) or not all('
             'map(importlib.util.find_spec, %r)))' % (list(modules),))
    try:
        return subprocess.run([python, '-c', check], stdin=subprocess.DEVNULL, timeout=60,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def need(modules, wish=()):
    """Goes on in a Python that has the modules, and those that are wished for if one has them all.
    The python3 that comes first may be one of pyenv or conda, which does not see the libraries of
    the distribution: then this process becomes /usr/bin/python3, or $NHT1_PYTHON. Returns the
    modules that are missing, in this Python and in the others."""
    def missing(names):
        return [m for m in names if importlib.util.find_spec(m) is None]
    lacking = missing(list(modules) + list(wish))
    if not lacking or os.environ.get('NHT1_PYTHON_TAKEN'):
        return lacking
    others = [p for p in (os.environ.get('NHT1_PYTHON'), '/usr/bin/python3', '/bin/python3')
              if p and os.path.realpath(p) != os.path.realpath(sys.executable)]
    for wanted in [list(modules) + list(wish)] + ([list(modules)] if missing(modules) else []):
        for python in others:
            if _has(python, wanted):
                os.environ['NHT1_PYTHON_TAKEN'] = python
                sys.stdout.flush()
                os.execv(python, [python] + sys.argv)
    return lacking
