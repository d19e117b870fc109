# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose what is compared is. Either side is one machine, whatever hosts its jobs had; of several file systems, MPI
libraries or processors of a side, each is compared with its own of the other side."""
import re

from .. import results, text, ways

HOSTS_MAX = 12  # in a note


def tell_hosts(found, sides):
    for name, side in zip('AB', sides):
        hosts = results.Systems(side).machines
        if len(hosts) > 1:
            found.note('%s is of several machines, which are taken together: %s' % (
                name, ', '.join(hosts[:HOSTS_MAX]) + (', ...' if len(hosts) > HOSTS_MAX else '')))


def of_both(sides):
    return results.Systems(results.Results(sides[0] + sides[1]), together=True)


class Part:
    """Results of a side with one system and file system. A group of runs of nht1-bt is such a part, too."""

    def __init__(self, name, system, fs):
        self.name, self.system, self.fs, self.whose, self.results = name, system, fs, '', results.Results()


def pairs(found, sides, comparable=lambda a, b: True):
    """[(part of A, part of B, whose)] of parts that fit each other best; whose: '' where there is one pair. comparable: whether
    two parts may be a pair."""
    left = [list(side) for side in sides]
    fits = [(_alike(a, b), a, b) for a in left[0] for b in left[1] if comparable(a, b)]
    made = []
    for _, one, other in sorted(fits, key=lambda f: f[0], reverse=True):
        if one in left[0] and other in left[1]:
            made.append((one, other))
            left[0].remove(one)
            left[1].remove(other)
    made.sort(key=lambda p: sides[0].index(p[0]))
    for alone, there in zip(left, 'BA') if made else ():
        for part in alone:
            found.note('%s: nothing like it in %s' % (text.of(part.name, part.whose), there))
            found.apart |= set(map(id, part.results))
    found.apart -= {id(r) for pair in made for part in pair for r in part.results}
    return [(one, other, one.whose if len(made) > 1 else '') for one, other in made]


def leave_out_cut_short(found, sides):
    """[results of A, results of B] that came to their end; how many others there are is noted."""
    whole = []
    for name, side in zip('AB', sides):
        cut = results.cut_short(side)
        found.apart |= set(map(id, cut))
        if cut:
            found.notes.append('%s: %s left out: interrupted or failed' % (name, text.plural(len(cut), 'result')))
        whole.append(results.Results(r for r in side if r not in cut))
    return whole


def results_pairs(found, sides):
    """The same of results of one program: [([results of A, results of B], whose)]; what differs is noted."""
    both = of_both(sides)
    made = pairs(found, [parts(side, both) for side in sides])
    for one, other, _ in made:
        found.system(one.results[0], other.results[0], (one.fs, other.fs))
    return [([one.results, other.results], whose) for one, other, whose in made]


def ways_pairs(found, pairs):
    """Those of results_pairs, each divided by how it was measured: what both sides have with its own, or one way with
    another where each side has one."""
    made = []
    for both, whose in pairs:
        names, of = ways.ResultWays(both[0] + both[1]), [{}, {}]
        for side, its in zip(both, of):
            for r in side:
                its.setdefault(names.of(r), results.Results()).append(r)
        common = [way for way in of[0] if way in of[1]]
        if not common and len(of[0]) == len(of[1]) == 1:
            found.note(text.of('%s in A is compared with %s in B' % tuple(names.name_of(side[0]) for side in both), whose))
            made.append((both, whose))
            continue
        for its, there in zip(of, 'BA'):
            for way, alone in its.items():
                if way not in common:
                    found.note('%s: nothing like it in %s' % (text.of(alone[0].kind, whose, names.name(way)), there))
                    found.apart |= set(map(id, alone))
        made += [([its[way] for its in of], text.of(whose, names.name(way))) for way in common]
    return made


def parts(side, systems):
    found = []
    for r in side:
        system, fs = systems.of(r), next(iter(results.file_systems(r)), None)
        part = results.place(found, system, fs)
        if not part:
            part = Part(r.kind, system, fs)
            found.append(part)
        part.results.append(r)
    for part in found:
        part.whose = systems.name(part.system, part.fs)
    return found


def _alike(a, b):
    """How well two parts fit each other: processor and type of the file system first."""
    fs = bool(a.fs and b.fs)
    return (a.system.cpu == b.system.cpu, fs and a.fs.type == b.fs.type, a.system.simulation == b.system.simulation,
            a.fs == b.fs, fs and a.fs.mount == b.fs.mount, a.system.mpi == b.system.mpi, _library(a) == _library(b),
            a.system.memory == b.system.memory)


def _library(part):
    """Of whatever version."""
    return re.split(r'[ \W]*v?\d', part.system.mpi)[0]
