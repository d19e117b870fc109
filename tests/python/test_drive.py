# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run that failed is told to have said, beside what its launcher adds."""
import os
import unittest

from nht1.study import drive
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
        self.assertEqual(self.said(''), 'it printed nothing')

    def test_wrong_usage_is_known_under_mpirun(self):
        self.said('my: --size: a number is expected\n' + PRIMARY + STATUS)
        self.assertTrue(drive.refused(self.part, '/bin/my', 1))
        self.said('KeyError: my\n' + PRIMARY + STATUS)
        self.assertFalse(drive.refused(self.part, '/bin/my', 1))
