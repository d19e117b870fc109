# SPDX-License-Identifier: GPL-3.0-or-later
"""How results of nht1-beff, nht1-beffio and nht1-workload were measured: what was varied beside definition, problem,
system and number of processes. Of nht1-bt the identity of a cell has it (results.py)."""
import re

from .results import at, integer, members, option_shown, items, real, word, words

# Options that change what is measured, and where a result says them; not those that pages and comparisons know by a
# name of their own, such as definition and T.
OPTIONS = {'nht1-workload': ('sync', 'think', 'depth', 'buffer'),
           'nht1-beff': ('memory_per_process', 'lmax', 'random', 'methods', 'buffers', 'repetitions'),
           'nht1-beffio': ('mb', 'm_part', 'termination', 'count', 'noshared', 'rewrite', 'unique', 'nounique',
                           'shift_read', 'drop_cache')}
USUAL = {'buffer': 256 * 2 ** 20, 'random': 30, 'buffers': 6, 'methods': 'sendrecv,alltoallv,nonblocking', 'repetitions': 3, 'm_part': 'definition',
         'termination': 'definition', 'count': 'definition'}
MISSING = {'hint': 'no hints', 'component': 'MPI-IO component unknown', 'set.fraction': 'fraction 1', 'set.files': 'files common'}


def of(result):
    """((key, text), ...), of keys that option_shown knows. What is off, not given or not known is not in it."""
    options = [(key, at(result.root, 'options.' + key)) for key in OPTIONS.get(result.kind, ())]
    known = [(key, 'yes' if value is True else str(value)) for key, value in options
             if value not in (None, False, 0, '', '0', USUAL.get(key))]
    known += [(key, value) for key, value in (('hint', ' '.join(_hints(result))), ('component', _component(result))) if value]
    if word(result.root, 'mode') == 'separate':  # of nht1-workload
        known.append(('set.files', 'separate'))
    return tuple(known + [('env.' + k, v) for k, v in sorted(result.environment.items())])


def _nodes(result):
    if result.kind == 'nht1-profile':
        return len({word(rank, 'host') for rank in items(result.root, 'profile.ranks')}) or 1
    return integer(result.root, 'system.nodes', 1)


def of_phase(phase):
    """The same of a pattern of nht1-workload: what its page and a comparison name by no word of their own."""
    settings = dict(members(phase, 'settings'))
    if real(phase, 'fraction') < 1:
        settings['fraction'] = real(phase, 'fraction')
    return tuple(('set.' + key, '%g' % value if isinstance(value, float) else str(value)) for key, value in sorted(settings.items()))


def functions_of(point):
    """Those that a working point of nht1-workload has called."""
    return [word(call, 'function') for call in items(point, 'calls')]


def style_of(point):
    """How its nonblocking collective calls were made, split or request; '' where there were none."""
    return next((style for style, named in (('split', '_begin$'), ('request', '^i.*_all$')) if any(
        re.search(named, f) for f in functions_of(point))), '')


def shown(way):
    """'--sync end, hint cb_nodes=1', None for what is missing; a component that a variable names is said once."""
    values = [v for k, v in way if k.startswith('env.') and v is not None]
    return ', '.join(_missing(k) if v is None else option_shown(k, v) for k, v in way if k != 'component' or v not in values)


def _hints(result):
    """['cb_nodes=1', 'write/scatter:cb_nodes=2', ...]: of nht1-beffio with what they are for."""
    if result.kind != 'nht1-beffio':
        return sorted(words(result.root, 'options.hint'))
    found = []
    for hint in items(result.root, 'hints'):
        which = [str(hint[k]) for k in ('procs', 'access', 'type', 'position') if hint.get(k) is not None]
        found.append('%s%s=%s' % ('/'.join(which) + ':' if which else '', word(hint, 'key'), word(hint, 'value')))
    return sorted(found)


def _component(result):
    """The MPI-IO components in force, '' where none is known."""
    said = [word(result.root, 'system.mpiio_component')] + [
        word(part, 'mpiio_component') for p in items(result.root, 'partitions') for part in items(p, 'library')]
    return ' and '.join(dict.fromkeys(c for c in (s.partition(' (')[0] for s in said) if c not in ('', 'unknown')))


class Ways:
    """What tells some from each other, and what they have in common."""

    def __init__(self, found):
        found = [dict(way) for way in found]
        keys = dict.fromkeys(k for way in found for k in way)
        self._varied = [k for k in keys if len({way.get(k) for way in found}) > 1]
        self.common = shown([(k, v) for k, v in (found[0] if found else {}).items() if k not in self._varied])

    def name(self, way):
        """'' where nothing differs."""
        way = dict(way)
        return shown([(k, way.get(k)) for k in self._varied])


class ResultWays(Ways):
    """Those of some results, with the number of nodes where as many ranks were on more and on fewer of them: then it is no
    number that follows that of ranks."""

    def __init__(self, results):
        numbers = {}
        for r in results:
            numbers.setdefault((r.kind, integer(r.root, 'profile.ranks_n') or integer(r.root, 'system.ranks')), set()).add(_nodes(r))
        varied = {kind for (kind, _), found in numbers.items() if len(found) > 1}
        self._of = {id(r): of(r) + ((('nodes', _nodes(r)),) if r.kind in varied else ()) for r in results}
        super().__init__(self._of.values())

    def of(self, result):
        return self._of[id(result)]

    def name_of(self, result):
        return self.name(self.of(result))


def _missing(key):
    return MISSING.get(key) or ('%s not set' % key[4:] if key.startswith(('env.', 'set.')) else 'no --' + key.replace('_', '-'))
