# SPDX-License-Identifier: GPL-3.0-or-later
"""Results as they are read: nothing in a file is trusted, and runs repeat each other where all that
was varied is the same."""
import json
import math
import os
import shutil
import types
import unittest
from unittest import mock

from nht1 import reading, results, trouble
from support import bt_result, scratch_of


def stand_in(requests):
    """For nht1-stats: medians alone."""
    return [{'median': sorted(r['values'])[len(r['values']) // 2], 'min': min(r['values']),
             'ci_lo': min(r['values']), 'ci_hi': max(r['values']), 'outliers': 0} for r in requests]


class Json(unittest.TestCase):
    def test_members_that_are_missing_or_of_another_type_read_as_unknown(self):
        root = {'a': {'b': [1, {'c': 'x'}]}, 'n': True, 'f': 2.0}
        self.assertEqual(results.at(root, 'a.b.1.c'), 'x')
        self.assertIsNone(results.at(root, 'a.b.7.c'))
        self.assertTrue(math.isnan(results.real(root, 'n')))
        self.assertEqual(results.integer(root, 'f'), 2)
        self.assertEqual(results.word(root, 'f'), '')
        self.assertEqual(results.items(root, 'a.b'), [{'c': 'x'}])

    def test_numbers_that_nobody_has_measured(self):
        for said in ('1e308', '-1e400', '[1, {"a": 1e100}]', '1' * 500):
            with self.subTest(said[:20]):
                with self.assertRaises(results.NoMeasurement):
                    results.parse_json(said.encode(), 'x')
        self.assertEqual(results.parse_json(b'1e-300', 'x'), 0)

    def test_what_is_no_json_is_told_with_its_line(self):
        for said, line in ((b'{\n"a": }', 2), (b'\xff', 1), (b'[' * 100000, 1)):
            with self.subTest(said[:10]):
                with self.assertRaisesRegex(trouble.Trouble, r'x:%d: not JSON' % line):
                    results.parse_json(said, 'x')

    def test_stamps_without_a_sentence_are_left_out(self):
        stamps = results.stamps({'stamps': [{'code': 'x'}, 7, {'code': 'a', 'sentence': 's', 'severity': 'odd'}]})
        self.assertEqual([(s['code'], s['severity']) for s in stamps], [('a', 'note')])

    def test_what_stamps_spoil_is_on_the_list_that_the_build_makes(self):
        def stamp(code):
            return {'code': code, 'severity': 'warn', 'numbers': {}, 'sentence': 'So it is.'}
        root = {'stamps': [stamp('official')], 'runs': [
            {'driver': 'posix', 'stamps': [stamp('disturbed')]}, {'driver': 'mpiio', 'stamps': [stamp('too-short')]}]}
        self.assertEqual(results.spoiling(root), {
            code: results.stamp_codes()[code]['spoils'] for code in ('disturbed', 'too-short')})
        self.assertEqual(list(results.spoiling(root, ['posix'])), ['disturbed'])
        self.assertEqual(results.verdicts()['io-too-slow'], 'bad')
        self.assertNotIn('disturbed', results.verdicts())


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = scratch_of(self)

    def write(self, name, value):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w') as f:
            json.dump(value, f)
        return path

    def test_a_folder_stands_for_the_results_below_it(self):
        self.write('a/result.json', bt_result())
        self.write('other.json', {'schema': 'foreign/1'})
        self.write('.hidden.json', bt_result())
        found = results.load([self.folder])
        self.assertEqual([r.kind for r in found], ['nht1-bt'])
        self.assertEqual(found.passed_over, 1)

    def test_of_copies_that_of_a_study_counts_wherever_it_lies(self):
        os.makedirs(os.path.join(self.folder, 'study', 'runs', 'p01-r02'))
        for name in 'a.json', 'study/runs/p01-r02/result.json', 'z.json':
            with open(os.path.join(self.folder, name), 'w') as f:
                json.dump(bt_result(), f)
        with open(os.path.join(self.folder, 'study', 'runs', 'p01-r02', 'run.json'), 'w') as f:
            json.dump({'schema': 'nht1-study-run/1', 'run': 2, 'settings': {'env.X': '1'}}, f)
        found = results.load([self.folder])
        self.assertEqual([(r.environment, r.study_round[1]) for r in found], [({'X': '1'}, 2)])
        self.assertIn('a.json', found.left_out)
        self.assertNotIn('p01-r02', found.left_out)
        # A copy of the whole run, too.
        self.write('study/study.json', {})
        shutil.copytree(os.path.join(self.folder, 'study', 'runs', 'p01-r02'), os.path.join(self.folder, 'best', 'p01-r02'))
        found = results.load([self.folder])
        self.assertEqual([os.path.relpath(r.path, self.folder) for r in found], ['study/runs/p01-r02/result.json'])
        # A copy of the whole study, of when it had fewer runs.
        shutil.copytree(os.path.join(self.folder, 'study'), os.path.join(self.folder, 'a-backup'))
        self.write('study/runs/p01-r03/result.json', dict(bt_result(), started_utc='2026-11-28T00:00:00Z'))
        found = results.load([self.folder])
        self.assertEqual([os.path.relpath(r.path, self.folder) for r in found], ['study/runs/p01-r%02d/result.json' % i for i in (2, 3)])

    def test_where_nothing_else_is_there_what_cannot_be_read_is_named(self):
        with open(os.path.join(self.folder, 'cut.json'), 'w') as f:
            f.write('{"schema": "nht1-bt/1", ')
        with self.assertRaisesRegex(trouble.Trouble, 'cut.json') as raised:
            results.load([self.folder])
        self.assertEqual(raised.exception.status, trouble.FAILED)

    def test_damaged_results_of_a_folder_are_named(self):
        self.write('good.json', bt_result())
        for name, content in ('cut.json', json.dumps(bt_result())[:200]), ('empty.json', ''), ('other.json', '{"a": '):
            with open(os.path.join(self.folder, name), 'w') as f:
                f.write(content)
        found = results.load([self.folder])
        self.assertEqual((len(found), found.passed_over), (1, 1))
        self.assertEqual(found.left_out.replace(self.folder + '/', ''),
                         '2 files left out, damaged or not to be read: cut.json, empty.json')

    def test_summaries_are_left_out_where_their_own_json_is_there(self):
        corpus = os.path.join(os.path.dirname(__file__), '..', 'corpus', 'report')
        with open(os.path.join(corpus, 'beff.json')) as f:
            root = json.load(f)
        summary = {'program': 'b_eff', 'procs': root['system']['ranks'], 'value': root['result']['b_eff_bytes_per_s'] + 400}
        found = results.Results([results.Result('x.json', 'nht1-beff', 1, root, {})])
        self.assertTrue(results._is_of(summary, found))
        self.assertFalse(results._is_of(dict(summary, value=summary['value'] * 1.01), found))
        self.assertFalse(results._is_of(dict(summary, procs=99), found))

    def test_a_file_that_is_named_must_be_a_result(self):
        for value in ({'schema': 'foreign/1'}, {}, {'schema': 'nht1-bt/x'}):
            with self.assertRaises(trouble.Trouble) as raised:
                results.load([self.write('x.json', value)])
            self.assertEqual(raised.exception.status, trouble.USAGE)

    def test_interrupted_runs_of_a_study_do_not_count(self):
        self.write('study.json', {})
        self.write('runs/p01-r01/result.json', bt_result())
        self.write('interrupted/p01-r02-1/result.json', bt_result())
        self.assertEqual(len(results.load([self.folder])), 1)


def of_system(t=1.0, mount='/', server=None, host='h', **members):
    """A result of nht1-bt whose times are t times those of others."""
    root = bt_result(t_t=[t * s for s in (1.2, 1.21, 1.22)], t_c=[t * s for s in (1.0, 1.01, 1.02)])
    for run in root['runs']:
        if run['driver'] != 'none':
            run['t_c_s'] = t
            run['file'].update(mount=mount, server=server)
    root['system'].update(host=host, **members)
    return root


GIB = 2 ** 30


class Cells(unittest.TestCase):
    def runs(self, *roots):
        return self.runs_of(*(('r%d.json' % i, root, {}) for i, root in enumerate(roots)))

    def runs_of(self, *files):
        """files: (path, content, what a study noted beside it)"""
        made = results.Results(results.Result(path, 'nht1-bt', 1, root, run) for path, root, run in files)
        with mock.patch('nht1.stats.ask', stand_in), \
                mock.patch('nht1.results.writer_options', return_value={'buffer'}):
            return results.Runs(made)

    def test_the_same_in_two_files_is_one_cell(self):
        found = self.runs(bt_result(), bt_result())
        self.assertEqual([(c.writer, c.n) for c in found.groups[0].cells], [('posix', 6), ('none', 6)])

    def test_the_rate_while_writing_is_the_median_of_the_rates(self):
        root = bt_result(t_t=(1.0, 1.1, 1.2))
        for run, rate in zip((r for r in root['runs'] if r['driver'] != 'none'), (2e6, 9e6, 3e6)):
            run['write_rate_bytes_per_s'] = rate
        self.assertEqual([c.write_rate for c in self.runs(root).groups[0].cells if c.writes], [3e6])

    def test_simulated_runs_are_not_averaged_with_measured_ones(self):
        simulated = [bt_result() for _ in range(2)]
        for root, platform in zip(simulated, ('flat', 'torus')):
            root['system']['simulation'] = {'platform': platform, 'computing': 'free'}
        found = self.runs(bt_result(), *simulated)
        self.assertEqual([[(c.writer, c.n) for c in g.cells] for g in found.groups], [[('posix', 3), ('none', 3)]] * 3)
        self.assertEqual([g.whose for g in found.groups], [
            'measured', 'simulated on flat, computing free', 'simulated on torus, computing free'])
        self.assertEqual(len({c.computing for g in found.groups for c in g.cells}), 3)

    def test_results_of_two_systems_are_never_averaged_nor_one_divided_by_the_t_c_of_the_other(self):
        for names, members in (
                (('h', 'n7'), {'host': 'n7'}),
                (('c', 'd'), {'cpu': {'model': 'd'}}),
                (('unknown MPI library', 'MPICH 4.0.2'), {'mpi': {'library': 'MPICH 4.0.2'}}),
                (('unknown memory', '64 GiB of memory'), {'memory': {'total_bytes': 64 * GIB}})):
            for turned in (False, True):
                with self.subTest(members, turned=turned):
                    both = [of_system(), of_system(0.1, **members)]
                    found = self.runs(*(both[::-1] if turned else both))
                    self.assertEqual([[(c.writer, c.n) for c in g.cells] for g in found.groups], [[('posix', 3), ('none', 3)]] * 2)
                    self.assertEqual([g.whose for g in found.groups], list(names[::-1] if turned else names))
                    for group in found.groups:
                        self.assertAlmostEqual(group.best().zeta, 0.21)
                        self.assertAlmostEqual(group.t_c(2), 1.0 if group.whose == names[0] else 0.1)

    def test_what_is_not_named_is_the_same_in_all(self):
        same = {'mpi': {'library': 'MPICH 4.0.2'}, 'memory': {'total_bytes': 64 * GIB}}
        found = self.runs(of_system(**same), of_system(host='h', **same))
        self.assertEqual([(g.whose, g.best().n) for g in found.groups], [('', 6)])
        self.assertFalse(found.systems.several)

    def test_two_file_systems_of_one_type_are_two(self):
        for names, files in ((('ext4 at /', 'ext4 at /b'), {'mount': '/b'}),
                             (('ext4 at /', 'ext4 at / of s:/x'), {'server': 's:/x'})):
            found = self.runs(of_system(), of_system(2.0, **files))
            self.assertEqual([(g.whose, g.best().n) for g in found.groups], [(name, 3) for name in names])
            # T_C is of the system: the best of both.
            self.assertAlmostEqual(found.groups[1].best().zeta, 1.42)

    def test_the_folder_of_a_batch_job_is_another_one_each_time(self):
        jobs = [of_system(mount='/scratch/' + job) for job in ('71', '72')]
        for root, job in zip(jobs, ('71', '72')):
            root['job_id'] = job
        self.assertEqual([(g.whose, g.fs.mount, g.best().n) for g in self.runs(*jobs).groups], [('', '/scratch/JOB', 6)])

    def test_hosts_of_one_study_are_one_machine_and_so_are_those_of_a_result_of_several_nodes(self):
        def run(n):
            return {'schema': 'nht1-study-run/1', 'run': n}
        study = [('s/runs/p1-r%d/result.json' % n, of_system(host='n%d' % n), run(n)) for n in (10, 9)]
        found = self.runs_of(*study)
        self.assertEqual([(g.whose, g.best().n) for g in found.groups], [('', 6)])
        wide = of_system(host='n9', nodes=2, mpi={'hosts': [{'name': 'n9'}, {'name': 'n11'}]})
        alone = [('%s.json' % host, of_system(0.5, host=host), {}) for host in ('n11', 'n12')]
        found = self.runs_of(*study, ('wide.json', wide, {}), *alone)
        self.assertEqual([(g.whose, sorted(c.n for c in g.cells if c.writes)) for g in found.groups], [
            ('n9 and 2 others', [3, 9]), ('n12', [3])])
        self.assertEqual({c.label for c in found.groups[0].cells if c.writes}, {
            'posix, 2 ranks x 1 thread', 'posix, 2 ranks x 1 thread on 2 nodes'})
        # Simulated nodes have the same names on every host.
        wide['system'].update(host='x', simulation={'platform': 'flat', 'computing': 'charged'})
        found = self.runs_of(*study, ('wide.json', wide, {}))
        self.assertEqual([g.whose for g in found.groups], ['n9 and 1 other', 'x'])

    def test_hosts_whose_long_names_differ_at_the_end_alone_are_two(self):
        hosts = [63 * 'k' + end for end in 'ab']
        self.assertEqual([g.whose for g in self.runs(*(of_system(host=h) for h in hosts)).groups], hosts)

    def test_what_is_kept_apart_is_each_named_once_machines_of_checks_and_not_results_without_a_file_system(self):
        no_file = of_system()
        no_file['runs'] = [run for run in no_file['runs'] if run['driver'] == 'none']
        mine = results.Results(results.Result('x.json', 'nht1-bt', 1, root, {}) for root in (no_file, of_system(), of_system(mount='/b')))
        self.assertEqual(results.Systems(mine).names, ['ext4 at /', 'ext4 at /b'])
        mine.checks.append(('check.json', {'host': 'n7'}))
        self.assertEqual(results.Systems(mine).names, ['h, ext4 at /', 'h, ext4 at /b', 'n7'])

    def test_nodes_of_a_kind_differ_by_some_mib(self):
        for other, groups in ((GIB // 4, 1), (2 * GIB, 2)):
            found = self.runs(of_system(memory={'total_bytes': 64 * GIB - GIB // 2 - 1}),
                              of_system(memory={'total_bytes': 64 * GIB - GIB // 2 + other}))
            self.assertEqual(len(found.groups), groups)

    def test_other_cores_in_use_are_another_cell(self):
        found = self.runs(of_system(), of_system(2.0, cores_in_use=1))
        self.assertEqual([(c.label, c.n, round(c.zeta, 2)) for c in found.groups[0].cells if c.writes], [
            ('posix, on 2 cores', 3, 0.21), ('posix, on 1 core', 3, 0.21)])

    def test_a_setting_of_its_writer_makes_another_cell(self):
        other = bt_result()
        for run in other['runs']:
            run['options'] = {'buffer': 65536} if run['driver'] == 'posix' else {}
        found = self.runs(bt_result(), other)
        self.assertEqual([(c.writer, c.n) for c in found.groups[0].cells],
                         [('posix', 3), ('posix', 3), ('none', 6)])
        self.assertEqual({c.label for c in found.groups[0].cells}, {'none', 'posix', 'posix, --buffer 65536'})

    def test_another_problem_is_another_group(self):
        other = bt_result()
        other['problem']['steps'] = 20
        self.assertEqual(len(self.runs(bt_result(), other).groups), 2)

    def test_wrong_and_unfinished_runs_are_counted_and_left_out(self):
        root = bt_result()
        root['runs'][1]['norms'] = {'ok': False}
        root['runs'][3]['completed'] = False
        found = self.runs(root)
        self.assertEqual((found.wrong, found.unfinished, len(found.all)), (1, 1, 4))

    def test_zeta_is_over_the_best_computing_alone(self):
        cell = self.runs(bt_result()).groups[0].cells[0]
        self.assertAlmostEqual(cell.zeta, 1.21 / 1.0 - 1)

    def test_a_t_c_that_was_given_counts_for_its_own_result_where_none_was_measured(self):
        def given(t_c_s, **members):
            root = bt_result(**members)
            root['t_c'] = {'origin': 'given', 't_c_s': t_c_s}
            root['runs'] = [dict(run, t_c_s=t_c_s) for run in root['runs'] if run['driver'] != 'none']
            return root

        def found(*roots):
            return [(c.t_c_s, c.given) for g in self.runs(*roots).groups for c in g.cells if c.writes]
        self.assertEqual(found(given(0.5)), [(0.5, True)])
        self.assertEqual(found(given(0.5), bt_result()), [(1.0, False)])
        self.assertEqual(found(bt_result(), given(0.5, options_changed={'isa': 'avx2'})), [(1.0, False)] * 2)
        self.assertEqual(sorted(found(given(0.5), given(0.7, options_changed={'isa': 'avx2'}))), [(0.5, True), (0.7, True)])
        (t_c_s, mixed), = found(given(0.5), given(0.7))
        self.assertTrue(math.isnan(t_c_s) and not mixed)


class Readings(unittest.TestCase):
    def test_an_interval_that_begins_at_0_s_has_no_highest_rate(self):
        one = types.SimpleNamespace(t_r_s=2, bytes=8, requests_n=1, cached_share=0, missed='')
        spread = reading.Spread(reading.Way('', 0, 'cold', 1), [one], [], {'median': 2, 'ci_lo': 0, 'ci_hi': 4})
        self.assertEqual(spread.rates[:2], (4, 2))
        self.assertTrue(math.isnan(spread.rates[2]))
