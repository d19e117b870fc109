# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run that failed is told to have said, beside what its launcher adds; which runs of a study that goes on count."""
import itertools
import os
import unittest
from types import SimpleNamespace
from unittest import mock

from nht1 import stats, trouble
from nht1.study import description, drive, programs, question
from support import scratch_of

LINE = '-' * 74 + '\n'
# As Open MPI 4.1 prints it.
PRIMARY = LINE + """Primary job  terminated normally, but 1 process returned
a non-zero exit code. Per user-direction, the job has been aborted.
""" + LINE
STATUS = LINE + """mpirun detected that one or more processes exited with non-zero status, thus causing
the job to be terminated. The first process to do so was:

  Process name: [[10469,1],1]
  Exit code:    1
""" + LINE
ABORT = LINE + """MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD
with errorcode 1.
""" + LINE
AGGREGATED = """[vm:17615] 1 more process has sent help message help-mpi-api.txt / mpi-abort
[vm:17615] Set MCA parameter "orte_base_help_aggregate" to 0 to see all help / error messages
"""
SIGNAL = LINE + 'mpirun noticed that process rank 0 with PID 0 on node vm exited on signal 11 (Segmentation fault).\n' + LINE
SRUN = 'srun: error: node1: task 0: Exited with exit code 1\n'
ERROR = """[vm:07026] *** An error occurred in MPI_Send
[vm:07026] *** reported by process [3640524801,0]
[vm:07026] *** on communicator MPI_COMM_WORLD
[vm:07026] *** MPI_ERR_RANK: invalid rank
[vm:07026] *** MPI_ERRORS_ARE_FATAL (processes in this communicator will now abort,
[vm:07026] ***    and potentially your MPI job)
"""
CRASH = """[vm:25884] *** Process received signal ***
[vm:25884] Signal: Segmentation fault (11)
[vm:25884] Signal code:  (-6)
[vm:25884] Failing at address: 0x651c
[vm:25884] [ 0] /lib/x86_64-linux-gnu/libc.so.6(+0x3c050)[0x7f5b5b05b050]
[vm:25884] *** End of error message ***
"""


class Settings(unittest.TestCase):
    def test_a_level_is_one_that_a_report_can_have(self):
        def of(level):
            return drive.Settings(description.read('x.ini', '[study]\nlevel = %s\n[run]\nprogram = sim\n' % level))
        self.assertEqual((of('0.5').level, of('.999').level), (0.5, 0.999))
        for level in ('0.4', '0.9995', '.99999'):
            with self.assertRaisesRegex(trouble.Trouble, r'x.ini:2: \[study\] level: a number from 0.5 to 0.999 is expected'):
                of(level)


class Better(unittest.TestCase):
    def test_of_a_rate_by_its_name_is_high_also_of_a_list(self):
        sim = programs.Program('sim', '/bin/sim', {})
        self.assertEqual([sim.better_of(m) for m in ('r_per_s', 'r_per_s[]', 'runs[].r_mib_s', 'took_s', 'took_s[]', 'rates[].s')],
                         ['high'] * 3 + ['low'] * 3)


class LastWords(unittest.TestCase):
    def setUp(self):
        self.part = scratch_of(self)

    def said(self, stderr):
        with open(os.path.join(self.part, 'stderr'), 'w', encoding='utf-8') as f:
            f.write(stderr)
        return drive.last_words(self.part)

    def test_of_the_program_and_not_of_mpirun_behind_it(self):
        for banner in (PRIMARY + STATUS, ABORT + AGGREGATED, PRIMARY + SIGNAL):
            self.assertEqual(self.said('reading\nmy: no space\n' + banner), 'my: no space')
        self.assertEqual(self.said(ABORT + 'my: no space\n' + STATUS), 'my: no space')
        self.assertEqual(self.said('nht1-bt: first\nnht1-bt: second\nlibrary: third\n' + STATUS), 'nht1-bt: first')

    def test_of_mpirun_where_the_program_said_nothing(self):
        for crash in ('', CRASH):
            self.assertTrue(self.said(crash + PRIMARY + SIGNAL).endswith('on signal 11 (Segmentation fault).'))
        self.assertTrue(self.said(ABORT + AGGREGATED).startswith('MPI_ABORT was invoked on rank 1 in '))
        self.assertEqual(self.said(PRIMARY + STATUS), 'it printed nothing')
        self.assertEqual(self.said('my: no space\n' + SRUN), 'my: no space')
        self.assertEqual(self.said(SRUN), SRUN.strip())
        self.assertEqual(self.said(ERROR), 'MPI_ERR_RANK: invalid rank')
        self.assertEqual(self.said('my: no space\n' + ERROR), 'my: no space')
        self.assertEqual(self.said('mpirun: Error: unknown option "--x"\nType \'mpirun --help\' for usage.\n'),
                         'mpirun: Error: unknown option "--x"')
        self.assertEqual(self.said(''), 'it printed nothing')

    def test_of_lines_with_words(self):
        self.assertEqual(self.said('\n***\n\nno recursive calls\n\n*****\n' + PRIMARY + STATUS), 'no recursive calls')
        self.assertEqual(self.said('*****\n'), 'it printed nothing')

    def test_wrong_usage_is_known_under_mpirun(self):
        self.said('my: --size: a number is expected\n' + PRIMARY + STATUS)
        self.assertTrue(drive.refused(self.part, '/bin/my', 1))
        self.said('KeyError: my\n' + PRIMARY + STATUS)
        self.assertFalse(drive.refused(self.part, '/bin/my', 1))


class GoingOn(unittest.TestCase):
    def driver(self, repeats, failed=(), writers=('none', 'posix')):
        """Of a finished study of 8 rounds, of 64 at most, that is started again with these repeats. failed: runs."""
        point = SimpleNamespace(program='sim', ranks=1, threads=1, env={}, value=lambda key: None)
        points = [SimpleNamespace(**vars(point), id='p%s' % io, options={('io', io)}) for io in writers]
        program = SimpleNamespace(alone=('io', 'none'), metric='runs[].t_t_s', better_of=lambda metric: 'low')
        settings = SimpleNamespace(shuffled=False, repeats_of=lambda point: repeats, precision=0.01, level=0.95)
        run = {'ok': True, 'wall_s': 1}
        records = {'%s-r%02d' % (p.id, n): dict(run, rounds_max=64) if p.id != 'pnone' else run for p in points for n in range(1, 9)}
        records.update((name, dict(records[name], ok=False)) for name in failed)
        folder = SimpleNamespace(results=lambda: records, record={'seed': 1}, result=lambda name: {'runs': [{'t_t_s': 1}]})
        with mock.patch.object(stats, 'looks', side_effect=lambda level, of: [8, 11] if of[0]['rounds_max'] == 64 else [6, of[0]['rounds_max']]), \
                mock.patch.object(question.Question, '_settled', return_value=True):
            tallies = drive.tallies_of(points, {p.id: program for p in points}, settings)
            return drive.Driver(tallies, None, settings, folder, {}, '', None)

    def tallies(self, repeats):
        """Its points: computing, writing."""
        return self.driver(repeats).tallies

    def test_all_runs_count_where_fewer_are_asked_for(self):
        for repeats in ((drive.AUTO, 6), (2, 2)):
            self.assertEqual([(len(t.runs), t.high) for t in self.tallies(repeats)], [(8, 8)] * 2)

    def test_rounds_until_it_is_decided_keep_the_plan_that_they_were_made_for(self):
        for most in (6, 10):
            writing = self.tallies((drive.AUTO, most))[1]
            self.assertEqual((writing.question.most, writing.question.looks[:2]), (64, [8, 11]))
        with mock.patch.object(question.Question, '_settled', return_value=False):
            self.assertEqual(writing.due(), (2, 2))  # the next look is out of reach

    def test_a_round_that_failed_is_made_up_for(self):
        def due(*failed, repeats=(8, 8), **writers):
            driver = self.driver(repeats, failed, **writers)
            return [(t.point.id, n) for t, n in driver._due()], [t.high for t in driver.tallies]
        self.assertEqual(due(), ([], [8, 8]))
        for lost in ('pnone-r03', 'pposix-r08'):  # computing fails, or what is compared with it: both have another round
            self.assertEqual(due(lost), ([('pnone', 9), ('pposix', 9)], [8, 8]))
        self.assertEqual(due('pnone-r03', 'pposix-r03'), ([('pnone', 9), ('pposix', 9)], [8, 8]))
        self.assertEqual(due('pnone-r03', 'pnone-r04'), ([], [8, 8]))  # it is not tried again
        self.assertEqual(due('pnone-r03', repeats=(7, 7)), ([], [7, 7]))
        # So have other writers, which are compared with it in the same rounds.
        for writers in (('none', 'posix', 'mpiio'), ('posix', 'mpiio')):
            self.assertEqual(due('pposix-r03', writers=writers), ([('p' + io, 9) for io in writers], [8] * len(writers)))
        # Also where rounds go on until it is decided, which it is after eight.
        with mock.patch.object(question.Question, '_settled', return_value=True), mock.patch.object(stats, 'looks', return_value=[8, 11]):
            driver = self.driver((drive.AUTO, 64), ['pposix-r03'], ('none', 'mpiio', 'posix'))
            self.assertEqual([(t.point.id, n) for t, n in itertools.islice(driver._due(), 3)], [('pnone', 9), ('pmpiio', 9), ('pposix', 9)])
            self.assertEqual([driver._due_of(t) for t in driver.tallies[1:]], [[1, 1], [1, 57]])
        # What never succeeded is not waited for.
        self.assertEqual(due(*('pnone-r0%d' % n for n in range(1, 9))), ([], [8, 8]))
