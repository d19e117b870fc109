# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a study may go on: what counts differs in one thing at a time; what differs between jobs does not count."""
import copy
import os
import tempfile
import unittest
from types import SimpleNamespace
from unittest import mock

from nht1.study import conditions
from nht1.trouble import Trouble

LAUNCHER = SimpleNamespace(variables=lambda ranks, threads: ({'OMP_NUM_THREADS': '1'}, {}))
BEGUN = {
    'files': {'folder': '/scratch/me', 'filesystem': 'lustre', 'source': 'mds@tcp:/scratch'},
    'system': {'cores': 8, 'nodes': 2, 'memory_gb': 8.0}, 'processor': {'model': 'CPU X', 'cpus': 4},
    'programs': [{'name': 'nht1-bt', 'path': '/n/nht1-bt', 'version': '1', 'sha256': 'a' * 64}],
    'launcher': {'name': 'mpirun', 'path': '/m/mpirun', 'kind': 'openmpi', 'version': '4', 'flags': []},
    'environment': {'OMPI_MCA_io': 'ompio'}}


class GoingOn(unittest.TestCase):
    def expect(self, said, begun=BEGUN, **changed):
        here = copy.deepcopy(BEGUN)
        for path, value in changed.items():
            *names, last = path.split('__')
            place = here
            for name in names:
                place = place[int(name) if name.isdigit() else name]
            place[last] = value
        if said is None:
            conditions.expect_same(begun, here, 'out/x', LAUNCHER, False)
            return
        with self.assertRaises(Trouble) as caught:
            conditions.expect_same(begun, here, 'out/x', LAUNCHER, False)
        self.assertEqual(caught.exception.status, 1)
        self.assertIn('out/x: this study was begun under other conditions, %s' % said, str(caught.exception))
        self.assertTrue(str(caught.exception).endswith('with --new'), caught.exception)

    def test_what_counts_is_named_with_what_it_was(self):
        self.expect('files: /scratch/me before, the folder of the study now; give --files /scratch/me again', files__folder='')
        self.expect('file system of the files: lustre of mds@tcp:/scratch before, nfs of ', files__filesystem='nfs')
        self.expect('nodes: 2 before, 3 now', system__nodes=3)
        self.expect('program nht1-bt: /n/nht1-bt before, /o/nht1-bt now', programs__0__path='/o/nht1-bt')
        self.expect('build of nht1-bt: aaaaaaaaaaaa before, bbbbbbbbbbbb now', programs__0__sha256='b' * 64)
        self.expect('launcher: /m/mpirun before, /o/mpirun now; give --launcher /m/mpirun', launcher__path='/o/mpirun')
        self.expect('version of the launcher: 4 before, 5 now', launcher__version='5')
        self.expect('computer: 4 CPUs, CPU X before, 4 CPUs, CPU Y now', processor__model='CPU Y')
        self.expect('$OMPI_MCA_io: ompio before, not set now; set it again', environment={})
        self.expect('$UCX_TLS: not set before, tcp now', environment={'OMPI_MCA_io': 'ompio', 'UCX_TLS': 'tcp'})

    def test_flags_of_the_launcher_are_those_of_several_places(self):
        begun = copy.deepcopy(BEGUN)
        begun['launcher']['flags'] = ['--x', 'a b']
        self.expect("flags of the launcher: --x 'a b' before, none now; give --launcher-flags='--x '\"'\"'a b", begun)
        self.expect("flags of the launcher: --x 'a b' before, --y now; have MPIRUN_FLAGS, launcher_flags of the description and "
                    '--launcher-flags add up to the earlier ones, or', begun, launcher__flags=['--y'])
        self.expect('flags of the launcher: none before, --y now; go on without', launcher__flags=['--y'])

    def test_another_job_of_the_batch_system_is_no_other_condition(self):
        self.expect(None)
        self.expect(None, environment={'OMPI_MCA_io': 'ompio', 'SLURM_JOB_ID': '7', 'PBS_NODEFILE': '/x', 'LANG': 'C',
                                       'OMP_NUM_THREADS': '9', 'XDG_STATE_HOME': '/job'}, host='n2', system__memory_gb=7.9)

    def test_its_identity_in_a_path_does_not_count(self):
        begun = copy.deepcopy(BEGUN)
        begun['environment'].update(PBS_JOBID='12.pbs', HYDRA_HOST_FILE='/spool/12.pbs')
        begun['files']['folder'] = '/local/job_12.pbs/x'
        of = {'OMPI_MCA_io': 'ompio', 'PBS_JOBID': '13.pbs', 'HYDRA_HOST_FILE': '/spool/13.pbs'}
        self.expect(None, begun, environment=of, files__folder='/local/job_13.pbs/x')
        self.expect('files', begun, environment=of, files__folder='/local/job_14.pbs/x')
        self.expect(None, environment={'OMPI_MCA_io': 'ompio', 'SLURM_JOB_ID': '4'})  # as is the version of the launcher
        self.expect('$OMP_DYNAMIC: not set before, 4 now',
                    environment={'OMPI_MCA_io': 'ompio', 'SLURM_JOB_ID': '4', 'OMP_DYNAMIC': '4'})

    def test_what_a_record_or_a_dry_run_lacks_is_not_compared(self):
        for lacking in {}, {'files': [], 'system': 1, 'programs': [None], 'launcher': 'x', 'environment': BEGUN['environment']}:
            conditions.expect_same(lacking or {'environment': BEGUN['environment']}, BEGUN, 'x', LAUNCHER, True)
        conditions.expect_same(BEGUN, {k: v for k, v in BEGUN.items() if k != 'launcher'}, 'x', LAUNCHER, True)


class Here(unittest.TestCase):
    def test_the_last_mount_that_covers_a_path_counts(self):
        with tempfile.TemporaryDirectory() as top:
            top = os.path.realpath(top)
            os.mkdir(os.path.join(top, 'a b'))
            with open(os.path.join(top, 'mounts'), 'w') as f:
                f.write('1 0 8:1 / / rw - ext4 /dev/sda rw\n2 1 0:3 / {0}/a\\040b rw shared:1 - autofs map rw\n'
                        '3 2 0:4 / {0}/a\\040b rw - nfs4 server:/x\\040y rw\n4 1 0:5 / {0}/a rw - tmpfs t rw\n'.format(top))
            with mock.patch.object(conditions, 'MOUNTS', f.name):
                self.assertEqual(conditions.filesystem(os.path.join(top, 'a b')), ('nfs4', 'server:/x y'))
                self.assertEqual(conditions.filesystem(top), ('ext4', '/dev/sda'))
                self.assertEqual(conditions.filesystem(os.path.join(top, 'none')), ('', ''))
            with mock.patch.object(conditions, 'MOUNTS', top + '/none'):
                self.assertEqual(conditions.filesystem(top), ('', ''))
