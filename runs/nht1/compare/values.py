# SPDX-License-Identifier: GPL-3.0-or-later
"""Results with few values each, several of which are a sample: bandwidth programs, and programs under
nht1-profile."""
import shlex

from .. import patterns, results, sumfile, text, ways
from . import systems
from .metric import RUNS_MIN, Metric, known

# Results with a headline each, several of which are a sample: name, member, unit, whether higher is
# better, and what must be the same on both sides.
VALUES = {
    'nht1-beff': (
        ('b_eff', 'result.b_eff_bytes_per_s', 'bytes/s', True,
         ('definition', 'system.ranks', 'memory.lmax_bytes', 'result.valid')),
        ('latency of rings and random patterns', 'result.latency_s', 's', False,
         ('definition', 'system.ranks'))),
    'nht1-beffio': (
        ('b_eff_io', 'b_eff_io.bytes_per_s', 'bytes/s', True,
         ('b_eff_io.definition', 'schedule.partitions', 'b_eff_io.valid', 'b_eff_io.files_counted', 'schedule.t_s',
          'schedule.termination')),)}
# How far off a page buffers begin, least and most of all processes: reads depend on it.
BUFFERS = {'nht1-beff': 'buffer_offset_bytes', 'nht1-beffio': 'b_eff_io.buffer_offset_bytes'}


def compare(found, sides):
    """The first of the values decides, of the part with most results."""
    kind, sides = sides[0][0].kind, systems.leave_out_cut_short(found, sides)
    pairs = systems.ways_pairs(found, systems.results_pairs(found, sides))
    if not pairs:
        found.reasons.append('A and B have no results of %s in common that were measured in the same way' % kind)
    for both, whose in found.each(pairs):
        found.agree(text.of('buffers', whose), both, (BUFFERS[kind],), found.studied)
        largest = [[n for n in (results.integer(r.root, 'schedule.m_part_bytes') for r in side) if n > 0] for side in both]
        if all(largest) and max(map(max, largest)) > results.MEMORY_ALIKE * min(map(min, largest)):
            found.note(text.of('M_PART, the largest chunk, which follows the memory, is %s in A, %s in B' % tuple(
                ' and '.join(map(text.size_iec, sorted(set(side)))) for side in largest), whose))
        of = [{results.integer(r.root, 'b_eff_io.procs') for r in side} for side in both]
        if len(of[0] | of[1]) > 1:
            found.note(text.of('b_eff_io is the value of another partition in some results: of %s processes in A, of %s in B' % tuple(
                ' or '.join(map(str, sorted(side))) for side in of), whose))
        for name, path, unit, higher_better, keys in VALUES[kind]:
            found.agree(text.of(name, whose), both, keys)
            found.metric(text.of(name, whose), unit, both, lambda root, path=path: [results.real(root, path)], higher_better, name)


def compare_sums(found, sides):
    """Summaries of b_eff_io and b_eff beside each other or beside results: the values, then each pattern.
    sides: results.Results."""
    for name, side in zip('AB', sides):
        for path in dict.fromkeys(s['path'] for s in side.sums):
            found.notes += sumfile.sentences(next(s['faults'] for s in side.sums if s['path'] == path), '%s, %s' % (name, path))
    if not any(side.sums for side in sides):
        return
    _buffers(found, sides)
    _definitions(found, sides)
    _several(found, sides)
    for name, side in zip('AB', sides):
        not_valid = [s for s in side.sums if s['valid'] is False]
        if not_valid:
            found.studied.append('%s: %s is not valid by its own definition' % (name, text.clean(not_valid[0]['path'])))
    for name, of in (('b_eff_io', _io), ('b_eff', _beff)):
        if not any(side.sums_of(name) for side in sides):
            continue
        a, b = map(of, sides)
        if name == 'b_eff_io':
            _maxima(found, sides)
        common = sorted((p for p in set(a) & set(b) if p), key=lambda p: (min(len(a[p]), len(b[p])) >= RUNS_MIN, p), reverse=True)
        for procs in common:
            _pairs(found, [a[procs], b[procs]], 'bytes/s', text.processes(procs))
        if len(common) > 1 and min(len(a[common[0]]), len(b[common[0]])) >= RUNS_MIN and found.metrics[0].name == ', '.join((name, text.processes(common[0]))):
            found.first = '%s of %s decides, the most of which there are enough values on both sides' % (name, text.processes(common[0]))
    if not found.metrics:
        found.reasons.append('A and B have no values of one program with as many processes')


def _buffers(found, sides):
    """Summaries of the released programs do not say where buffers begin."""
    for kind, name in (('nht1-beff', 'b_eff'), ('nht1-beffio', 'b_eff_io')):
        said = [_offsets(side, kind, name) for side in sides]
        if all(said) and said[0] != said[1]:
            found.studied.append('buffers of %s begin %s bytes off a page in A, %s in B' % (name, *(
                ', '.join('%d to %d' % v for v in sorted(s)) for s in said)))


def _several(found, sides):
    """Summaries do not say which file system, MPI library or setting of several they are of."""
    for kind, name in (('nht1-beff', 'b_eff'), ('nht1-beffio', 'b_eff_io')):
        both = [results.Results(side.of(kind)) for side in sides]
        if not any(side.sums_of(name) for side in sides) or not all(side.of(kind) or side.sums_of(name) for side in sides):
            continue
        systems.tell_hosts(found, both)
        of = systems.of_both(both)
        parts = [systems.parts(side, of) for side in both]
        if len(parts[0]) == len(parts[1]) == 1:
            found.system(*(part.results[0] for (part,) in parts), tuple(part.fs for (part,) in parts))
        for name, side in zip('AB', parts):
            whose = [part.whose for part in side]
            if len(whose) > 1:
                found.studied.append('%s: results of %s are of several (%s), and a summary does not say which of them is its own' % (
                    name, kind, '; '.join(whose)))
        names = ways.ResultWays(both[0] + both[1])
        named = [list(dict.fromkeys(map(names.name_of, side))) for side in both]
        if len(named[0]) == len(named[1]) == 1 and named[0] != named[1]:
            found.note('%s in A is compared with %s in B' % (*named[0], *named[1]))
        for name, ways_of in zip('AB', named):
            if len(ways_of) > 1:
                found.studied.append('%s: results of %s were measured in several ways (%s), and a summary does not say which of them '
                                     'is its own' % (name, kind, '; '.join(ways_of)))


def _definitions(found, sides):
    """What makes values of one program such of two kinds: other definitions, other longest messages, making and
    removing files counted or not."""
    for kind, name, path in (('nht1-beff', 'b_eff', 'definition'), ('nht1-beffio', 'b_eff_io', 'b_eff_io.definition')):
        said = [{s['definition'] for s in side.sums_of(name)} | {results.word(r.root, path) for r in side.of(kind)} for side in sides]
        if all(said) and said[0] != said[1] and not any(None in s for s in said):
            found.reasons.append('%s: the definition is %s in A, %s in B' % (name, *(', '.join(sorted(s)) for s in said)))
    longest = [{s['sizes'][-1] for s in side.sums_of('b_eff') if s['sizes']} | {
        results.integer(r.root, 'memory.lmax_bytes') for r in side.of('nht1-beff')} for side in sides]
    if all(longest) and longest[0] != longest[1]:
        found.reasons.append('b_eff: L_max is %s bytes in A, %s in B' % tuple(', '.join(map(str, sorted(s))) for s in longest))
    minutes = [{'%.0f' % (s / 60) for s in [s['scheduled_s'] for s in side.sums_of('b_eff_io')] + [
        results.real(p, 'scheduled_s') for r in side.of('nht1-beffio') for p in results.items(r.root, 'partitions')]
        if s is not None and s == s} for side in sides]
    if any(side.sums_of('b_eff_io') for side in sides) and all(minutes) and minutes[0] != minutes[1]:
        found.reasons.append('b_eff_io: the scheduled time T is %s minutes in A, %s in B' % tuple(', '.join(sorted(s, key=float)) for s in minutes))
    counted = [{c for c in [_counted(s) for s in side.sums_of('b_eff_io')] + [
        results.at(r.root, 'b_eff_io.files_counted') for r in side.of('nht1-beffio')] if isinstance(c, bool)} for side in sides]
    if all(counted) and counted[0] != counted[1]:
        found.reasons.append('b_eff_io: making and removing files is %s in A, %s in B' % tuple(
            ', '.join('counted' if c else 'not counted' for c in sorted(s)) for s in counted))


def _counted(said):
    """The released program counts it, and does not say so."""
    return True if said['files_counted'] is None and not said['ours'] else said['files_counted']


def _offsets(side, kind, name):
    told = [s['buffer_offset_bytes'] for s in side.sums_of(name)]
    for r in side.of(kind):
        told += [results.at(v, 'buffer_offset_bytes') for v in (
            results.items(r.root, 'partitions') if kind == 'nht1-beffio' else [r.root])]
    return {tuple(v) for v in told if isinstance(v, list) and len(v) == 2 and all(isinstance(n, int) for n in v)}


def _io(side):
    """{processes: [{quantity: value}]} of summaries and of results of nht1-beffio."""
    kept = {}
    for s in side.sums_of('b_eff_io'):
        kept.setdefault(s['procs'], []).append({('b_eff_io',): s['value'], **patterns.of_sum(s)})
    for r in side.of('nht1-beffio'):
        for p in results.items(r.root, 'partitions'):
            value = _headline(p)
            if value > 0:
                kept.setdefault(results.integer(p, 'procs'), []).append({('b_eff_io',): value, **patterns.of_result(p)})
    return kept


def _maxima(found, sides):
    """b_eff_io itself, which decides: the maximum over the partitions of a run, where all have the same ones."""
    both = [_runs(side) for side in sides]
    procs = [sorted({tuple(sorted(run)) for run in side}) for side in both]
    if procs[0] == procs[1] and len(procs[0]) == 1:
        if len(procs[0][0]) > 1:
            found.metrics.append(Metric('b_eff_io', 'bytes/s', *([max(run.values()) for run in side] for side in both), True))
    elif all(procs):
        found.notes.append('b_eff_io itself, the maximum over partitions, is not compared: these are of %s processes in A, of %s in B' % tuple(
            '; '.join(', '.join(map(str, of)) for of in side) for side in procs))


def _runs(side):
    """[{processes of a partition: b_eff_io}] of summaries, which may hold several runs, and of results."""
    kept, path = [], None
    for s in side.sums_of('b_eff_io'):
        if s['path'] != path or s['procs'] in kept[-1]:
            kept.append({})
        path = s['path']
        kept[-1][s['procs']] = s['value']
    for r in side.of('nht1-beffio'):
        kept.append({results.integer(p, 'procs'): value for p in results.items(r.root, 'partitions') for value in [_headline(p)] if value > 0})
    return [run for run in kept if run and all(run)]


def _headline(partition):
    return next((results.real(v, 'bytes_per_s') for v in results.items(partition, 'values') if results.true(v, 'headline')), 0)


def _beff(side):
    """The same of b_eff."""
    kept = {}
    for s in side.sums_of('b_eff'):
        kept.setdefault(s['procs'], []).append(patterns.of_b_eff(s))
    for r in side.of('nht1-beff'):
        kept.setdefault(results.integer(r.root, 'system.ranks'), []).append(patterns.of_b_eff_result(r.root))
    return kept


def _pairs(found, sides, unit, where):
    for key in sides[0][0]:
        x, y = ([v[key] for v in side if key in v] for side in sides)
        seconds = key[0].startswith('latency')
        if x and y:
            found.metrics.append(Metric(', '.join(filter(None, (' '.join(key), where))), 's' if seconds else unit, x, y, not seconds))


def compare_profiles(found, sides):
    def t_t_s(root):
        return [results.real(r, 't_t_s') for r in results.items(root, 'zeta.rounds')] or \
            [results.real(root, 'profile.wall_s')]

    def ratio(root):  # zeta may be 0 or less: of that no ratio says anything
        return [results.real(r, 't_t_s') / results.real(r, 't_c_s')
                for r in results.items(root, 'zeta.rounds') if results.real(r, 't_c_s') > 0]
    for *both, whose in found.each(_commands(found, sides)):
        found.agree(text.of('profile', whose), both, ('profile.ranks_n', 'profile.state', 'profile.read_bytes',
                                                      'profile.written_bytes'))
        for name, unit, values in ('1 + zeta of the program', '1', ratio), ('T_T of the program', 's', t_t_s):  # the first decides
            found.metric(text.of(name, whose), unit, both, values, group=name)


def _commands(found, sides):
    """[(results of A, results of B, whose)]: each command that was profiled with the same one of the other side. Where they
    have none in common, as each names files of its own, all together."""
    of = [{}, {}]
    for side, its in zip(sides, of):
        for r in side:
            its.setdefault(text.clean(shlex.join(results.words(r.root, 'command'))), results.Results()).append(r)
    several, common = max(map(len, of)) > 1, [command for command in of[0] if command in of[1]]
    if not common:
        found.note('A and B have no command in common: %d of A and %d of B are taken for repetitions of one' % tuple(map(len, of)) if
                   several else 'the command differs: %s in A, %s in B' % tuple(known(next(iter(its))) for its in of))
        return _by_way(found, [(list(sides), '')])
    for its, there in zip(of, 'BA'):
        for command in its:
            if command not in common:
                found.note('%s: nothing like it in %s' % (command, there))
                found.apart |= set(map(id, its[command]))
    return _by_way(found, [([its[command] for its in of], command if several else '') for command in common])


def _by_way(found, pairs):
    made = systems.ways_pairs(found, pairs)
    if not made:
        found.reasons.append('A and B have no profiles in common that were measured in the same way')
    return [(*both, whose) for both, whose in made]
