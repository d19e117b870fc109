# SPDX-License-Identifier: GPL-3.0-or-later
"""Which quantity decides about two results, and what is made of it."""
import os
import unittest

from nht1 import results
from nht1.compare.metric import FEW, NOT, SAME, UNCLEAR, WORSE, Metric, of_one_sample, together
from nht1.compare.verdict import Comparison
from support import bt_result

NOISE = (0, 3, 1, 4, 2, 0.5, 3.5, 1.5)


def side(factor=1.0, slow=1.0, rounds=8, **more):
    """Rounds in which writing costs 10 % times factor, on a machine that is slow."""
    t_c = [slow * (1 + 0.002 * NOISE[i % 8]) for i in range(rounds)]
    root = bt_result([1.1 * factor * c * (1 + 0.001 * NOISE[(3 * i) % 8]) for i, c in enumerate(t_c)], t_c, **more)
    return results.Results([results.Result('x.json', 'nht1-bt', 1, root, {})])


class Decides(unittest.TestCase):
    def test_paired_zeta_where_both_sides_have_it(self):
        c = Comparison(side(), side(slow=1.5))
        self.assertEqual((c.primary.name, c.verdict), ('T_T / T_C of posix, 2 processors', SAME))
        self.assertEqual([m.name for m in c.beside(WORSE)][:1], ['T_T of posix, 2 processors'])
        self.assertIn('Beside it, worse: T_T of posix', c.sentence)

    def test_t_t_where_a_round_has_no_computing_alone(self):
        b = side(slow=1.5)
        b[0].root['runs'] = b[0].root['runs'][1:]
        c = Comparison(side(), b)
        self.assertEqual((c.primary.name, c.verdict), ('T_T of posix, 2 processors', WORSE))

    def test_several_writers_by_their_mean_in_each_round(self):
        c = Comparison(side(writers=('posix', 'mpiio')), side(1.2, writers=('posix', 'mpiio')))
        self.assertEqual(c.primary.name, 'T_T / T_C, geometric mean over the 2 below')
        self.assertEqual((len(c.primary.a), c.verdict), (8, WORSE))

    def test_t_t_over_t_c_is_no_verdict_where_t_t_points_the_other_way(self):
        self.assertEqual(Comparison(side(), side(1.2)).notes, [])
        for zeta, slow, words in ((1 / 1.2, 1.5, 'is smaller in B, but T_T is longer'), (1.2, 1 / 1.5, 'is larger in B, but T_T is shorter')):
            c = Comparison(side(), side(zeta, slow=slow))
            self.assertEqual((c.primary.name, c.verdict), ('T_T / T_C of posix, 2 processors', UNCLEAR))
            self.assertRegex(c.sentence, r'^Inconclusive: T_T / T_C %s \(B/A [01].*\): computing alone differs \(T_C, B/A [01]' % words)
        self.assertEqual(Comparison(side(), side(1 / 1.5, slow=1.2)).verdict, 'better')

    def test_t_t_that_contradicts_is_that_of_what_decides(self):
        both = side(writers=('posix', 'mpiio')), side(1.2, writers=('posix', 'mpiio'))
        for one in both:  # mpiio lacks two rounds, so posix decides
            runs = [r for r in one[0].root['runs'] if r['driver'] == 'mpiio']
            for run in runs:
                run['t_t_s'] *= 0.5 if one is both[1] else 1
            one[0].root['runs'] = [r for r in one[0].root['runs'] if r not in runs[:2]]
        c = Comparison(*both)
        self.assertEqual((c.primary.name, c.verdict), ('T_T / T_C of posix, 2 processors', WORSE))

    def test_computing_alone_that_differs_is_that_of_as_many_processors(self):
        def more(one, slow):  # the same on another number of processors
            other = side(slow=slow)
            other[0].root['system'].update(ranks=1, cores_in_use=1)
            return results.Results(one + other)
        c = Comparison(more(side(), 1), more(side(1 / 1.2, slow=1.5), 0.5), metric='T_T / T_C of posix, 2 processors')
        self.assertRegex(c.sentence, r'computing alone differs \(T_C, B/A 1\.5')

    def test_t_t_that_is_the_same_is_no_better(self):
        c = Comparison(side(), side(1 / 1.15, slow=1.15))
        self.assertEqual((c.verdict, c.primary.rounds_needed), (UNCLEAR, None))
        self.assertIn('is smaller in B, but T_T is the same', c.sentence)

    def test_of_how_many_runs_would_tell_nobody_makes_thousands(self):
        c = Comparison(side(), side(1.05))
        for needed, words in ((500, 'about 500 runs on each side would probably tell'), (501, '500 runs on each side would not tell')):
            c.primary.numbers['rounds_needed'] = needed
            self.assertIn('; %s (T_T / T_C' % words, c.sentence)

    def test_a_whole_name_is_no_others_beginning(self):
        sides = side(writers=('token', 'token-gather')), side(slow=1.5, writers=('token', 'token-gather'))
        for metric, name, verdict in (('T_T', 'T_T, geometric mean over the 2 below', WORSE),
                                      ('T_T of token', 'T_T of token, 2 processors', WORSE),
                                      ('T_T of token-', 'T_T of token-gather, 2 processors', WORSE),
                                      ('T_T / T_C', 'T_T / T_C, geometric mean over the 2 below', SAME)):
            c = Comparison(*sides, metric=metric)
            self.assertEqual((c.primary.name, c.verdict), (name, verdict))

    def test_computing_alone_is_named_by_what_tells_it_from_another(self):
        both = side(), side()
        for one in both:  # T_C that was measured before the rounds, in another decomposition
            for run in one[0].root['runs']:
                run['decomp'] = '1x1x2'
            one[0].root['runs'] += [{'driver': 'none', 'round': 0, 't_t_s': 0.9 + 0.01 * i, 'verified': True, 'completed': True,
                                     'decomp': '1x2x1', 'stamps': []} for i in range(4)]
        self.assertEqual([m.name for m in Comparison(*both).metrics if m.name.startswith('T_C')],
                         ['T_C, 1x2x1, 2 processors', 'T_C, 1x1x2, 2 processors'])
        self.assertEqual([m.name for m in Comparison(side(), side()).metrics if m.name.startswith('T_C')], ['T_C, 2 processors'])

    def test_values_stand_in_the_order_of_measuring_whatever_files_are_called(self):
        both = results.Results(side(started_utc='2026-01-02T00:00:00Z', rounds=4) + side(started_utc='2026-01-01T23:00:00Z'))
        later, earlier = both
        c = Comparison(both, side(1.2))
        self.assertEqual([r[0] for r in c.primary.rounds[0]], 8 * [id(earlier)] + 4 * [id(later)])

    def test_of_several_results_of_several_rounds_each_counts_once(self):
        c = Comparison(results.Results(side() + side(slow=1.1)), results.Results(side(1.02) + side(1.7)))
        self.assertEqual((c.verdict, c.primary.json()['jobs'], c.primary.json()['method']), (UNCLEAR, 4, "Student's t"))
        self.assertIn('more results would tell, rather than more rounds in each', c.sentence)

    def test_that_values_drift_is_the_reason_told(self):
        rising = bt_result([1.1 * (1 + 0.02 * i) for i in range(26)], 26 * [1.0])
        c = Comparison(results.Results([results.Result('x.json', 'nht1-bt', 1, rising, {})]), side(rounds=26))
        self.assertEqual((c.verdict, c.primary.numbers['ratio_lo']), (UNCLEAR, None))
        self.assertIn('rise or fall in the order of measuring, and there is no interval', c.sentence)

    def test_that_too_few_values_resemble_the_one_before_is_the_reason_told_and_no_number_of_runs(self):
        def of(values):
            root = bt_result(values, len(values) * [1.0])
            return results.Results([results.Result('x.json', 'nht1-bt', 1, root, {})])
        alike, quiet = of([1.12, 1.13, 1.1, 1.08, 1.09]), of([1.1, 1.12, 1.09, 1.13, 1.08])
        c = Comparison(alike, quiet)
        self.assertEqual((c.verdict, c.primary.numbers['ratio_lo'], c.primary.rounds_needed), (UNCLEAR, None, None))
        self.assertIn('values of A or of B resemble the one before, and are too few for an interval at 95 % confidence (T_T', c.sentence)
        c = Comparison(quiet, quiet, 0.999)
        self.assertEqual((c.verdict, c.primary.rounds_needed), (UNCLEAR, None))
        self.assertIn('Inconclusive: values of A or of B are too few for an interval at 99.9 % confidence (T_T', c.sentence)

    def test_what_is_the_same_but_for_some_values_far_off_is_unclear(self):
        def of(slow, every, rounds=36):
            return of_values([10 * (1 + 0.001 * NOISE[(3 * i) % 8]) * (slow if i % every == every // 2 else 1) for i in range(rounds)])

        def of_values(t_t):
            root = bt_result(t_t, len(t_t) * [9.0])
            return results.Results([results.Result('x.json', 'nht1-bt', 1, root, {})])
        for metric in '', 'T_T of':
            c = Comparison(of(1, 5), of(3, 4), metric=metric)
            self.assertEqual((c.verdict, c.primary.rounds_needed), (UNCLEAR, None))
            self.assertRegex(c.sentence, r'^Inconclusive: medians are the same, but 9 of 36 values of B lie more than 1\.25 times above its '
                                         r'median, 0 of 36 of A \(means B/A 1\.50\d\) \(T_T')
        c = Comparison(of(1, 5), of_values([0.8 * r['t_t_s'] for r in of(6, 4)[0].root['runs'] if r['driver'] == 'posix']))
        self.assertEqual(c.verdict, UNCLEAR)
        self.assertIn('Inconclusive: the median of B is better, but 9 of 36 values of B', c.sentence)
        rate = Comparison(of(1, 5), of(3, 4), metric='writing rate of')
        self.assertRegex(rate.sentence, r'^Inconclusive: medians are the same, but 9 of 36 values of B lie more than 1\.25 times below its median')
        # Not more than chance would give, or A has as many: what means say stands beside the verdict, or nothing.
        c = Comparison(of(1, 5), of(3, 12))
        self.assertEqual(c.verdict, SAME)
        self.assertRegex(c.sentence, r'confidence; means differ: B/A 1\.16\d \(T_T')
        c = Comparison(of(3, 4), of(1, 5))
        self.assertEqual(c.verdict, SAME)
        self.assertRegex(c.sentence, r'confidence; means differ: B/A 0\.66\d \(T_T')
        c = Comparison(of(3, 5), of(3, 5))
        self.assertEqual(c.verdict, SAME)
        self.assertNotIn('means', c.sentence)

    def test_too_few_runs_are_no_comparison(self):
        c = Comparison(side(rounds=3), side(rounds=3))
        self.assertEqual((c.verdict, c.primary.verdict), (NOT, FEW))
        self.assertIn('at least 4 values', c.sentence)

    def test_spoiled_results_are_not_judged_unless_asked_for(self):
        b = side(1.3)
        b[0].root['stamps'] = [{'code': 'disturbed', 'severity': 'warn', 'sentence': 'It is.'}]
        c = Comparison(side(), b)
        self.assertEqual((c.verdict, c.stamps), (NOT, {'a': {}, 'b': {'disturbed': 1}}))
        self.assertEqual(Comparison(side(), b, nevertheless=True).verdict, WORSE)

    def test_what_was_read_back_wrong_is_as_spoiled_as_what_is_not_verified(self):
        wrong = {'code': 'read-wrong', 'severity': 'bad', 'sentence': 'Wrong.', 'numbers': {}}
        b = side(writers=('posix', 'mpiio'))
        for run in b[0].root['runs'][1:3]:  # posix and mpiio, of the first round
            run['read'] = [{'t_r_s': 0.1, 'digest_ok': run['driver'] == 'posix', 'stamps': [wrong] * (run['driver'] == 'mpiio')}]
        b[0].root['ranking'] = [{'driver': w, 'stamps': []} for w in ('posix', 'mpiio')]
        for a, verdict in ((side(writers=('posix', 'mpiio')), NOT), (side(), SAME)):
            self.assertEqual(Comparison(a, b).verdict, verdict)
        c = Comparison(side(writers=('mpiio',)), b)
        self.assertEqual(c.reasons[:1], ['B is stamped read-wrong (dumps were read back wrong) in 1 result; --nevertheless compares it'])
        self.assertEqual(Comparison(side(writers=('mpiio',)), b, nevertheless=True).verdict, SAME)

    def test_slow_computing_all_day_does_not_spoil_what_is_paired_with_it(self):
        b = side(1.3, slow=1.5)
        b[0].root['stamps'] = [{'code': 'disturbed', 'severity': 'warn', 'sentence': 'Computing alone took 50 % more.',
                                'numbers': {'t_c_s': 1.0, 't_c_today_s': 1.5, 'runs_n': 8}}]
        c = Comparison(side(), b)
        self.assertEqual((c.primary.group, c.verdict, c.stamps['b']), ('T_T / T_C', WORSE, {}))
        self.assertEqual(Comparison(side(), b, metric='T_T of').verdict, NOT)
        b[0].root['runs'] = b[0].root['runs'][1:]  # a round without computing alone: T_T decides
        self.assertEqual(Comparison(side(), b).verdict, NOT)

    def test_results_that_do_not_tell_whether_they_are_spoiled_are_not_judged_unless_asked_for(self):
        def without(key, of, value=None):
            b = side(1.3)
            part = of(b[0].root)
            if value is None:
                del part[key]
            else:
                part[key] = value
            return b
        def run(root):
            return root['runs'][1]
        for b, why in ((without('stamps', lambda root: root), 'has no stamps'), (without('stamps', run), 'has no stamps'),
                       (without('stamps', run, 'none'), 'has no stamps'),
                       (without('stamps', run, [{'code': 'disturbed', 'severity': 'warn'}]), 'has stamps that cannot be read'),
                       (without('disturbance', run), 'does not tell whether something else'),
                       (without('disturbance', run, {'disturbed': 'no', 'processors_shared': False}), 'does not tell')):
            with self.subTest(why):
                c = Comparison(side(), b)
                self.assertEqual(c.verdict, NOT)
                self.assertRegex(c.reasons[0], '^B %s.* \\(1 result\\); --nevertheless' % why)
                c = Comparison(side(), b, nevertheless=True)
                self.assertEqual(c.verdict, WORSE)
                self.assertTrue(any(note.startswith('B ' + why) for note in c.notes))

    def test_a_writer_that_shares_processors_by_itself_is_judged(self):
        # nht1-bt answers: processors lacked beside async alone, or in few of the rounds. Its runs have warnings.
        def stamped(severity):
            b = side(1.3)
            said = {'code': 'processors-shared', 'sentence': 'So it is.', 'numbers': {}}
            for run in b[0].root['runs'][1::2]:
                run['stamps'] = [dict(said, severity='warn')]
            b[0].root['ranking'] = [{'driver': 'posix', 'stamps': [dict(said, severity=severity)]}]
            return b
        self.assertEqual(Comparison(side(), stamped('note')).verdict, WORSE)
        c = Comparison(side(), stamped('warn'))
        self.assertEqual((c.verdict, c.stamps['b']), (NOT, {'processors-shared': 1}))

    def test_runs_that_do_not_count_are_told(self):
        b = side(1.3)
        runs = [r for r in b[0].root['runs'] if r['driver'] == 'posix']
        runs[0]['norms'], runs[1]['t_t_s'] = {'ok': False}, 'fast'
        c = Comparison(side(), b)
        self.assertIn('B: 1 run left out: what was computed or written was wrong', c.notes)
        self.assertIn('B: 1 run left out: interrupted, failed or continued', c.notes)

    def test_other_hosts_and_mounts_are_told_and_each_side_is_one_thing(self):
        a, b = side(), side()
        for r, host, mount in ((a[0], 'n1', '/a'), (b[0], 'n2', '/b')):
            r.root['system']['host'] = host
            for run in r.root['runs']:
                run.get('file', {}).update(mount=mount)
        c = Comparison(a, b)
        self.assertEqual(c.primary.name, 'T_T / T_C of posix, 2 processors')
        self.assertIn('file system differs: ext4 at /a in A, ext4 at /b in B', c.notes)
        self.assertIn('host differs: n1 in A, n2 in B', c.notes)
        # Each file system with its own, and what has no partner is told.
        b[0].root['system']['host'] = 'n1'
        c = Comparison(results.Results(b + a), results.Results(side()))
        self.assertEqual(len(c.primary.a), 8)
        self.assertEqual(sum('nothing like it in B' in note for note in c.notes), 1)
        # Jobs of a batch system are repetitions, whatever nodes they had.
        others = results.Results(a + side())
        c = Comparison(others, side(1.01))
        self.assertIn('A is of several machines, which are taken together: n1, h', c.notes)

    def test_a_simulated_result_is_refused(self):
        b = side(1.3)
        b[0].root['system']['simulation'] = {'platform': 'flat', 'computing': 'charged'}
        b[0].root['stamps'] = [{'code': 'simulated', 'severity': 'warn', 'sentence': 'It is.', 'numbers': {}}]
        c = Comparison(side(), b)
        self.assertEqual((c.verdict, c.stamps), (NOT, {'a': {}, 'b': {'simulated': 1}}))
        self.assertIn('B is stamped simulated', c.reasons[0])


QUIET = {'stamps': [], 'disturbance': {'disturbed': False, 'processors_shared': False}}


def io_of(value, mount):
    return 'nht1-beffio', {'b_eff_io': {'definition': '2.1', 'procs': 2, 'valid': True, 'bytes_per_s': value}}, mount


def comm_of(value, mpi):
    return 'nht1-beff', {'definition': '2.1', 'result': {'b_eff_bytes_per_s': value, 'latency_s': 1 / value, 'valid': True},
                         'system': {'ranks': 2, 'mpi': {'library': mpi}}}, ''


def workload_of(value, mount):
    return 'nht1-workload', {'phases': [{'title': 'p', 'completed': True, 'wrong_n': 0, 'fraction': 1, 'bytes_per_s': value}]}, mount


def several(value, mount):
    """One measurement that counts, one of wrong data, one that was interrupted."""
    kind, root, mount = workload_of(value, mount)
    (right,) = root['phases']
    return kind, {'phases': [right, dict(right, wrong_n=1), dict(right, completed=False)]}, mount


def hinted(value, mount):
    kind, root, mount = workload_of(value, mount)
    return kind, dict(root, options={'hint': ['cb_nodes=1']}), mount


def grouped(value, mount):
    kind, root, mount = workload_of(value, mount)
    root['phases'][0]['settings'] = {'group': 16}
    return kind, root, mount


def listed(value, mount):
    kind, root, mount = grouped(value, mount)
    root['phases'][0]['settings']['blocks'] = [2, {}]
    return kind, root, mount


def results_of(how, *parts):
    """parts: (of how many results, of about which value, where)"""
    made = results.Results()
    for n, value, where in parts:
        for i in range(n):
            kind, root, mount = how(value * (1 + 0.002 * NOISE[i % 8]), where)
            root['system'] = {'ranks': 2, 'host': 'n1', 'file_system': {'type': 'xfs' if mount else '', 'mount': mount},
                              **root.get('system', {})}
            made.append(results.Result('x.json', kind, 1, {**root, **QUIET}, {}))
    return made


class Parts(unittest.TestCase):
    CASES = (io_of, '/a', '/b', 'b_eff_io, xfs at %s', 'b_eff_io'), (workload_of, '/a', '/b', 'p, 2 processes, xfs at %s', 'bandwidth'), (
        comm_of, 'MPICH 4.0.2', 'Open MPI v4.1.4', 'b_eff, %s', 'b_eff')

    def test_several_file_systems_or_mpi_libraries_are_compared_each_with_its_own(self):
        for how, one, other, name, group in self.CASES:
            with self.subTest(group):  # the sides differ in nothing but how often each was measured
                a, b = results_of(how, (8, 10e9, one), (4, 1e9, other)), results_of(how, (4, 1e9, other), (4, 10e9, one))
                c = Comparison(a, b)
                self.assertEqual((c.primary.name, c.verdict), (name % one, SAME))
                self.assertEqual([(m.name, len(m.a), len(m.b)) for m in c.metrics if 'latency' not in m.name],
                                 [(name % one, 8, 4), (name % other, 4, 4)])
                self.assertTrue(all(abs(m.numbers['ratio'] - 1) < 0.01 for m in c.metrics))
                self.assertEqual(c.notes, ['what decides is %s, than which none has more results; the others are judged beside it' % (
                    name % one)])
                c = Comparison(a, results_of(how, (8, 13e9, one), (4, 1.3e9, other)))
                self.assertEqual((c.verdict, round(c.primary.numbers['ratio'], 1)), ('better', 1.3))
                # Few of another do not change what many show.
                c = Comparison(results_of(how, (2, 1e9, other), (8, 10e9, one)), results_of(how, (2, 0.7e9, other), (8, 7e9, one)))
                self.assertEqual((c.primary.name, c.verdict), (name % one, 'worse'))

    def test_libraries_of_other_versions_and_mounts_of_other_servers_are_paired_by_name_and_place(self):
        a = results_of(comm_of, (8, 10e9, 'MPICH 4.0.2'), (8, 1e9, 'Open MPI v4.1.4'))
        b = results_of(comm_of, (8, 1e9, 'Open MPI v4.1.5'), (8, 10e9, 'MPICH 4.0.3'))
        self.assertTrue(all(abs(m.numbers['ratio'] - 1) < 0.01 for m in Comparison(a, b).metrics))
        a, b = results_of(io_of, (8, 10e9, '/a'), (8, 1e9, '/b')), results_of(io_of, (8, 1e9, '/b'), (8, 10e9, '/a'))
        for side, server in ((a, 's1'), (b, 's2')):
            for r in side:
                r.root['system']['file_system'].update(type='nfs4', source=server + ':/export', network=True)
        self.assertTrue(all(abs(m.numbers['ratio'] - 1) < 0.01 for m in Comparison(a, b).metrics))

    def test_a_part_of_which_nothing_is_common_is_told(self):
        sides = [results_of(workload_of, (8, 1e9, '/a'), (8, 1e9, '/b')) for _ in 'AB']
        for r in sides[1][8:]:
            r.root['phases'][0]['title'] = 'q'
        c = Comparison(*sides)
        self.assertEqual(c.verdict, SAME)
        self.assertIn('A and B have no pattern and no working point in common, xfs at /b', c.notes)

    def test_problems_with_other_jobs_are_not_averaged_over_some_of_them(self):
        def problem(n, factor, jobs, rounds):
            found = [r for i in range(jobs) for r in side(factor, rounds=rounds)]
            for r in found:
                r.root['problem']['n'] = n
            return found
        # Each job of the larger one differs from the others; the first of A would be taken for all of them.
        a, b = (problem(64, 1, 1, 8) + [r for f in factors for r in problem(12, f, 1, 8)] for factors in (
            (1, 1.3, 1.1, 1.2), (1.3, 1.2, 1, 1.1)))
        c = Comparison(*map(results.Results, (a, b)))
        self.assertEqual((c.primary.json()['jobs'], len(c.primary.a), c.verdict), (8, 32, UNCLEAR))
        self.assertEqual([m.name for m in c.metrics if m.name.startswith('T_T /')], [
            'T_T / T_C of posix, 2 processors, N = %d' % n for n in (12, 64)])
        self.assertIn('what decides is T_T / T_C of posix, 2 processors, N = 12, than which none has more results;'
                      ' the others are judged beside it', c.notes)
        # As many of both are taken together, job by job.
        a, b = (results.Results(problem(64, f, 4, 8) + problem(12, f, 4, 8)) for f in (1, 1.3))
        c = Comparison(a, b)
        self.assertEqual((len(c.primary.a), c.primary.json()['jobs'], c.verdict), (32, 8, WORSE))

    def test_writers_that_some_jobs_lack_are_judged_beside_the_one_that_all_have(self):
        def jobs(posix, token):
            return results.Results(r for i in range(16) for r in side(
                token if i >= 8 else posix, slow=1 + 0.01 * NOISE[i % 8], writers=('posix', 'mpiio' if i < 8 else 'token')))
        for factor in (1, 0.98):  # of the two which is faster says nothing
            c = Comparison(jobs(1, factor), jobs(1, 1.5 * factor))
            self.assertEqual(c.primary.name, 'T_T / T_C of posix, 2 processors')
            self.assertIn('what decides is T_T / T_C of posix, 2 processors, than which none has more results; the others are judged beside it', c.notes)

    def test_programs_are_compared_each_command_with_itself(self):
        def profiled(*of):
            return results.Results(results.Result('x.json', 'nht1-profile', 1, {
                'command': command.split(), 'profile': {'ranks_n': 1, 'state': 'finished', 'read_bytes': 0, 'written_bytes': 1,
                                                        'wall_s': wall_s * (1 + 0.002 * NOISE[i % 8])}, **QUIET}, {})
                for n, command, wall_s in of for i in range(n))
        # The same programs, of which each side has run another one more often.
        c = Comparison(profiled((8, 'dd bs=4096', 10), (4, 'dd bs=1M', 1)), profiled((4, 'dd bs=4096', 10), (8, 'dd bs=1M', 2), (8, 'cp', 1)))
        self.assertEqual({m.name: round(m.numbers['ratio'], 2) for m in c.metrics},
                         {'T_T of the program, dd bs=4096': 1, 'T_T of the program, dd bs=1M': 2})
        self.assertIn('cp: nothing like it in A', c.notes)
        c = Comparison(profiled(*((1, 'app out%d' % i, 1 + 0.001 * NOISE[i]) for i in range(8))), profiled((8, 'app2', 1)))
        self.assertEqual((c.verdict, [m.name for m in c.metrics]), (SAME, ['T_T of the program']))
        self.assertIn('the command differs: app in A, app2 in B', Comparison(profiled((8, 'app', 1)), profiled((8, 'app2', 1))).notes)
        one, two = profiled((8, 'app', 1)), profiled((8, 'app', 2))
        for side, hosts in ((one, ('a', 'a')), (two, ('a', 'b'))):
            for r in side:
                r.root['profile']['ranks'] = [{'host': host} for host in hosts]
        self.assertIn('on 1 node in A is compared with on 2 nodes in B', Comparison(one, two).notes)
        # Of several commands each is still compared with itself.
        one, two = profiled((8, 'app', 1), (4, 'big', 4)), profiled((4, 'app', 1), (8, 'big', 4))
        for side, hosts in ((one, ('a', 'a')), (two, ('a', 'b'))):
            for r in side:
                r.root['profile']['ranks'] = [{'host': host} for host in hosts]
        self.assertEqual({m.name: round(m.numbers['ratio'], 2) for m in Comparison(one, two).metrics},
                         {'T_T of the program, app': 1, 'T_T of the program, big': 1})
        self.assertIn('A and B have no command in common: 8 of A and 1 of B are taken for repetitions of one', c.notes)

    def test_what_has_nothing_like_it_is_noted_on_both_sides_and_spoils_nothing(self):
        def on(nodes, n, value, **more):
            found = results_of(workload_of, (n, value, '/a'))
            for r in found:
                r.root.update(more)
                r.root['system']['nodes'] = nodes
            return found
        spoiled = {'stamps': [{'code': 'disturbed', 'severity': 'warn', 'sentence': 'It was.', 'numbers': {}}]}
        mixed, plain = on(1, 8, 1e9) + on(2, 5, 3e9, **spoiled), on(1, 8, 1e9)
        for a, b, letters in ((mixed, plain, 'AB'), (plain, mixed, 'BA')):
            c = Comparison(results.Results(a), results.Results(b))
            self.assertEqual((c.verdict, c.reasons), (SAME, []))
            self.assertIn('5 measurements of %s, on 2 nodes: nothing like it in %s' % tuple(letters), c.notes)
        c = Comparison(results.Results(on(1, 8, 1e9) + on(2, 8, 1e9)), results.Results(on(3, 8, 1e9) + on(4, 8, 1e9)))
        self.assertIn('A and B have nothing in common that was measured in the same way: on 1 node; on 2 nodes in A, '
                      'on 3 nodes; on 4 nodes in B', c.reasons)

    def test_a_writer_in_settings_that_one_side_has_is_told_and_spoils_nothing(self):
        def of(options=None, factor=1.0, stamps=(), **system):
            its = side(factor)
            its[0].root['system'].update(system)
            its[0].root['options_changed'].update(options or {})
            for run in its[0].root['runs']:
                run['options'] = dict(options or {})
            its[0].root['stamps'] = [{'code': code, 'severity': 'bad', 'sentence': 'It is.', 'numbers': {}} for code in stamps]
            return its
        small, both = of(), results.Results(of() + of(factor=3.0, ranks=4, stamps=['disturbed']))
        for sides, there in (((small, both), 'A'), ((both, small), 'B')):
            c = Comparison(*sides)
            self.assertEqual(c.verdict, SAME)
            self.assertIn('posix on 4 processors: nothing like it in %s' % there, c.notes)
        self.assertIn('posix, on 1 node in A is compared with posix, on 2 nodes in B',
                      Comparison(of(ranks=4), of(ranks=4, nodes=2)).notes)
        # All as near to each other: that is not said to be missing.
        c = Comparison(of({'buffer': 1}), results.Results(of({'buffer': 2}) + of({'buffer': 3})))
        self.assertEqual(c.reasons, ['no setting of posix in A is nearer to one in B than to another (N = 12)'])

    def test_settings_of_a_phase_that_are_lists_are_compared_as_text(self):
        a, b = results_of(listed, (8, 1e9, '/a')), results_of(listed, (8, 0.5e9, '/a'))
        self.assertEqual(Comparison(a, b).verdict, WORSE)

    def test_workloads_with_several_hints_are_rows_that_name_them(self):
        a, b = (results.Results(results_of(workload_of, (8, 1e9, '/a')) + results_of(hinted, (8, 1e9 * slower, '/a'))) for slower in (1, 0.5))
        c = Comparison(a, b)
        self.assertEqual([(m.name, round(m.numbers['ratio'], 2)) for m in c.metrics if m.name.startswith('p, ')],
                         [('p, 2 processes, no hints', 1), ('p, 2 processes, hint cb_nodes=1', 0.5)])

    def test_a_result_that_was_interrupted_first_does_not_spoil_others(self):
        cut = side()
        cut[0].root.update(stamps=[{'code': 'interrupted', 'severity': 'warn', 'sentence': 'It was.'}])
        for run in cut[0].root['runs']:
            run['completed'] = False
        self.assertEqual(Comparison(side(), results.Results(side() + cut)).verdict, SAME)
        cut[0].root['runs'][0]['completed'] = True
        self.assertEqual(Comparison(side(), results.Results(side() + cut)).stamps['b'], {'interrupted': 1})
        a, b = (results_of(workload_of, (8, 1e9, '/a')) for _ in 'AB')
        b[0].root['phases'][0]['completed'], b[0].root['stamps'] = False, cut[0].root['stamps']
        c = Comparison(a, b)
        self.assertEqual((c.verdict, c.notes), (SAME, ['B: 1 result left out: interrupted or failed']))
        c = Comparison(*(results_of(how, (8, 1e9, '/a')) for how in (workload_of, grouped)))
        self.assertEqual((c.verdict, c.reasons[1:]), (NOT, ['group: not set in A, 16 in B']))
        c = Comparison(*(results_of(several, (8, 1e9, '/a')) for _ in 'AB'))
        self.assertEqual((c.verdict, c.notes), (SAME, [n % side for side in 'AB' for n in (
            '%s: 8 measurements left out: the data were wrong', '%s: 8 measurements left out: interrupted or failed')]))

    def test_what_has_no_partner_is_told_and_not_compared(self):
        for how, one, other, name, group in self.CASES:
            with self.subTest(group):
                c = Comparison(results_of(how, (8, 10e9, one), (8, 1e9, other)), results_of(how, (8, 1e9, other)))
                self.assertEqual((c.primary.name, c.verdict), ((name % other).rpartition(', ')[0], SAME))
                self.assertEqual(c.notes, ['%s, %s: nothing like it in B' % (how(1, '')[0], (name % one).rpartition(', ')[2])])
                a = results_of(how, (8, 10e9, one), (8, 1e9, other))
                a[0].root['stamps'] = [{'code': 'page-cache', 'severity': 'warn', 'sentence': 'It is.'}]
                del a[1].root['stamps']
                self.assertEqual(Comparison(a, results_of(how, (8, 1e9, other))).verdict, SAME)
                self.assertEqual(Comparison(a, results_of(how, (8, 1e9, one))).verdict, NOT)
                # What the sides differ in is what is compared.
                c = Comparison(results_of(how, (8, 1e9, one)), results_of(how, (8, 1e9, other)))
                self.assertEqual((c.verdict, len(c.notes)), (SAME, 1))
                self.assertRegex(c.notes[0], '^(file system|MPI) differs: .*%s in A, .*%s in B' % (one, other))

    def test_beside_a_summary_several_file_systems_are_not_taken_for_repetitions(self):
        a, b = results_of(io_of, (4, 1e9, '/a')), results_of(io_of, (4, 1e9, '/a'), (4, 1e8, '/b'))
        for r in a + b:
            r.root['partitions'] = [{'procs': 2, 'values': [{'headline': True, 'bytes_per_s': r.root['b_eff_io']['bytes_per_s']}]}]
        summary = os.path.join(os.path.dirname(__file__), '..', 'samples', 'b_eff_io-2.1.sum')
        a.sums = results.load([summary]).sums
        why = 'B: results of nht1-beffio are of several (xfs at /a; xfs at /b), and a summary does not say which of them is its own'
        self.assertIn(why + '; --nevertheless compares it', Comparison(a, b).reasons)
        self.assertFalse([r for r in Comparison(a, results_of(io_of, (4, 1e9, '/a'))).reasons if 'several' in r])
        hinted = results_of(io_of, (4, 1e9, '/b'))
        for r in hinted:
            r.root['hints'] = [{'key': 'cb_nodes', 'value': '1'}]
        notes = Comparison(a, hinted, nevertheless=True).notes
        self.assertIn('no hints in A is compared with hint cb_nodes=1 in B', notes)
        self.assertTrue([n for n in notes if n.startswith('file system differs')], notes)
        both = results.Results(hinted + results_of(io_of, (4, 1e9, '/b')))
        self.assertIn('B: results of nht1-beffio were measured in several ways (hint cb_nodes=1; no hints), and a summary does not say '
                      'which of them is its own; --nevertheless compares it', Comparison(a, both).reasons)

    def test_a_summary_of_another_program_says_nothing_of_these(self):
        a, b = results_of(io_of, (4, 1e9, '/a')), results_of(io_of, (4, 1e9, '/a'), (4, 1e8, '/b'))
        a.sums = results.load([os.path.join(os.path.dirname(__file__), '..', 'samples', 'b_eff-3.6.sum')]).sums
        with_sum, a.sums = Comparison(a, b), []
        without = Comparison(a, b)
        self.assertEqual([(m.name, m.verdict) for m in with_sum.metrics], [(m.name, m.verdict) for m in without.metrics])
        self.assertEqual(with_sum.reasons, without.reasons)

    def test_summaries_of_this_suite_say_nothing_beside_results_of_both_sides(self):
        a, b = results_of(io_of, (4, 1e9, '/a')), results_of(io_of, (4, 8e8, '/a'))
        without = Comparison(a, b)
        a.sums = [dict(s, ours=True) for s in results.load([os.path.join(os.path.dirname(__file__), '..', 'samples', 'b_eff_io-2.1.sum')]).sums]
        c = Comparison(a, b)
        self.assertEqual([(m.name, m.verdict) for m in c.metrics], [(m.name, m.verdict) for m in without.metrics])
        self.assertTrue([n for n in c.notes if 'of b_eff_io left out, beside results' in n], c.notes)

    @staticmethod
    def partitioned(*values):
        """Results of nht1-beffio, and the same as summaries: b_eff_io of each partition, {processes: value}."""
        made = results.Results()
        for of in values:
            best = max(of, key=of.get)
            root = {'b_eff_io': {'definition': '2.1', 'procs': best, 'valid': True, 'bytes_per_s': of[best]}, 'system': {'ranks': 2},
                    'schedule': {'partitions': list(of)}, 'partitions': [
                        {'procs': n, 'values': [{'headline': True, 'bytes_per_s': v}]} for n, v in of.items()], **QUIET}
            made.append(results.Result('x.json', 'nht1-beffio', 1, root, {}))
        sums = results.Results()
        (sample, *_) = results.load([os.path.join(os.path.dirname(__file__), '..', 'samples', 'b_eff_io-2.1.sum')]).sums
        sums.sums = [dict(sample, procs=n, value=v, valid=True, faults=[], path='%d.sum' % i) for i, of in enumerate(values) for n, v in of.items()]
        return made, sums

    def test_b_eff_io_is_the_largest_of_the_partitions_of_each_run_whichever_that_is(self):
        a = [{1: 1e9, 2: v} for v in (1.1e9, 1.11e9, 0.99e9, 1.105e9, 1.095e9, 1.1e9, 1.09e9, 1.1e9)]
        b = [{1: 1e9 * (1 + 0.001 * i), 2: 7e8} for i in range(4)] + [{1: 1e9 * (1 - 0.001 * i), 2: 7e8} for i in range(4)]
        whole = [[max(of.values()) for of in side] for side in (a, b)]
        for i, kind in enumerate(('results', 'summaries')):
            with self.subTest(kind):
                c = Comparison(self.partitioned(*a)[i], self.partitioned(*b)[i])
                self.assertEqual((c.primary.name, [c.primary.a, c.primary.b], c.reasons), ('b_eff_io', whole, []))
        c = Comparison(self.partitioned(*a)[0], self.partitioned(*b)[0])
        self.assertIn('b_eff_io is the value of another partition in some results: of 1 or 2 processes in A, of 1 in B', c.notes)
        # A run that ended before its last partition has the value of another one.
        cut = self.partitioned({1: 1e9, 2: 7e8})[0]
        cut[0].root['partitions'][1]['completed'] = False
        c = Comparison(self.partitioned(*a)[0], results.Results(self.partitioned(*b)[0] + cut))
        self.assertEqual([len(c.primary.a), len(c.primary.b)], [8, 8])
        self.assertIn('B: 1 result left out: interrupted or failed', c.notes)
        # Other partitions are another benchmark; the largest that both sides have decides then, which is told.
        b = [{1: 1e9, 2: 7e8 + 1e5 * i, 4: 2e9} for i in (3, 1, 4, 2, 0, 6, 5, 7)]
        c = Comparison(self.partitioned(*a)[0], self.partitioned(*b)[0])
        self.assertEqual((c.verdict, ['schedule.partitions' in r for r in c.reasons[:1]]), (NOT, [True]))
        c = Comparison(self.partitioned(*a)[1], self.partitioned(*b)[1], metric='')
        self.assertEqual((c.primary.name, c.verdict), ('b_eff_io, 2 processes', WORSE))
        self.assertIn('b_eff_io itself, the maximum over partitions, is not compared: these are of 1, 2 processes in A, of 1, 2, 4 in B', c.notes)
        self.assertIn('b_eff_io of 2 processes decides, the most of which there are enough values on both sides', c.notes)

    def test_of_a_program_zeta_does_not_decide_where_few_results_have_one(self):
        def profiled(i, t_t_s, with_zeta):
            rounds = [{'t_t_s': t_t_s, 't_c_s': 1.0}] if with_zeta else []
            return results.Result('x.json', 'nht1-profile', 1, {
                'command': ['a'], 'system': {'host': 'n1'}, 'profile': {'ranks_n': 2, 'wall_s': t_t_s * (1 + 0.001 * NOISE[i])},
                'zeta': {'rounds': rounds}, **QUIET}, {})
        for n, name in ((1, 'T_T of the program'), (4, '1 + zeta of the program')):
            with self.subTest(n):
                c = Comparison(*(results.Results([profiled(i, t, i < n) for i in range(8)]) for t in (2.0, 3.0)), nevertheless=True)
                self.assertEqual((c.primary.name, '1 + zeta of the program does not decide: it has too few values' in c.notes), (name, n == 1))

    def test_of_a_workload_what_met_memory_is_left_out_beside_others_and_its_stamp_spoils_nothing(self):
        stamp = {'code': 'page-cache', 'severity': 'warn', 'sentence': 'It was.', 'numbers': {}}
        note = {'code': 'not-cache-honest', 'severity': 'note', 'sentence': 'Some.', 'numbers': {}}
        def memory(found, *which):
            for i in which:
                found[i].root['phases'][0]['stamps'] = [stamp]
                found[i].root['stamps'] = [note]
            return found
        c = Comparison(memory(results_of(workload_of, (9, 1e9, '/a')), 3), results_of(workload_of, (8, 1e9, '/a')))
        self.assertEqual((c.verdict, c.reasons, len(c.primary.a)), (SAME, [], 8))
        self.assertIn('p, 2 processes, A: 1 measurement left out: from memory', c.notes)
        # All patterns stay one sample.
        def two(value, mount):
            kind, root, mount = workload_of(value, mount)
            root['phases'].append(dict(root['phases'][0], title='q'))
            return kind, root, mount
        c = Comparison(memory(results_of(two, (9, 1e9, '/a')), 3), results_of(two, (8, 1e9, '/a')))
        self.assertEqual((c.primary.name, len(c.primary.a)), ('bandwidth, geometric mean over the 2 below', 8))
        self.assertIn('A: 1 round left out, in which a pattern has met memory', c.notes)
        # A pattern that would leave too few rounds is left out itself.
        c = Comparison(memory(results_of(two, (8, 1e9, '/a')), *range(5)), results_of(two, (8, 1e9, '/a')))
        self.assertEqual((c.primary.name[:1], len(c.primary.a), c.verdict), ('q', 8, SAME))
        self.assertTrue([n for n in c.notes if n.startswith('p, 2 processes is not compared: of its measurements 5 of 8 in A and 0 of 8')], c.notes)
        # What is not compared takes no rounds away.
        c = Comparison(memory(results_of(two, (8, 1e9, '/a')), *range(5)), memory(results_of(two, (8, 1e9, '/a')), *range(8)))
        self.assertEqual((c.primary.name[:1], len(c.primary.a), c.verdict), ('q', 8, SAME))
        c = Comparison(memory(results_of(workload_of, (8, 1e9, '/a')), *range(8)), results_of(workload_of, (8, 1e9, '/a')))
        self.assertEqual(c.verdict, NOT)
        # Of a pattern that one side has alone.
        a = results_of(workload_of, (8, 1e9, '/a'))
        for r in a:
            r.root['phases'].append(dict(r.root['phases'][0], title='q', stamps=[stamp]))
            r.root['stamps'] = [note]
        c = Comparison(a, results_of(workload_of, (8, 1e9, '/a')))
        self.assertEqual((c.verdict, c.reasons, c.stamps), (SAME, [], {'a': {}, 'b': {}}))

    def test_hosts_are_taken_together_and_told(self):
        for how, one, *_ in self.CASES:
            with self.subTest(how):
                a = results_of(how, (8, 1e9, one))
                a[-1].root['system']['host'] = 'n2'
                c = Comparison(a, results_of(how, (8, 1e9, one)))
                self.assertEqual((c.verdict, len(c.primary.a)), (SAME, 8))
                self.assertEqual(c.notes, ['A is of several machines, which are taken together: n1, n2'])


class Judged(unittest.TestCase):
    def judged(self, ratio, lo, hi, p, higher_better=False):
        m = Metric('x', 's', [1] * 8, [1] * 8, higher_better)
        m.judge({'ratio': ratio, 'ratio_lo': lo, 'ratio_hi': hi, 'p_corrected': p, 'far_p': 1, 'mean_ratio': ratio}, 0.05, 0.95)
        return m.verdict

    def test_by_threshold_interval_and_chance(self):
        self.assertEqual(self.judged(1.0, 0.96, 1.04, 1), SAME)
        self.assertEqual(self.judged(1.1, 1.06, 1.15, 0.01), WORSE)
        self.assertEqual(self.judged(1.1, 1.06, 1.15, 0.01, True), 'better')
        self.assertEqual(self.judged(0.9, 0.86, 0.94, 0.01, True), WORSE)
        self.assertEqual(self.judged(1.1, 1.04, 1.15, 0.01), UNCLEAR)
        self.assertEqual(self.judged(1.1, 1.06, 1.15, 0.06), UNCLEAR)
        self.assertEqual(self.judged(1.1, 0.9, 1.3, 0.2), UNCLEAR)
        self.assertEqual(self.judged(1.04, 1.02, 1.06, 0.001), UNCLEAR)
        self.assertEqual(self.judged(2.0, None, None, 0.001), UNCLEAR)

    def test_means_are_taken_of_the_same_rounds(self):
        def metric(values, rounds):
            return Metric('x', 's', values, values, rounds=(rounds, rounds))
        same, more, other = metric([4, 3, 2, 1], 'dcba'), metric([1, 2, 3, 4, 5], 'abcde'), metric([4, 3, 2, 1], 'efgh')
        one = metric([1, 2, 3, 4], 'abcd')
        self.assertEqual([of_one_sample([one, m]) for m in (same, more, other)], [True, False, True])
        self.assertEqual([round(v, 9) for v in together([one, same], 'x').a], [1, 2, 3, 4])
        self.assertEqual([round(v, 9) for v in together([one, other], 'x').a], [2, round(6 ** 0.5, 9), round(6 ** 0.5, 9), 2])
