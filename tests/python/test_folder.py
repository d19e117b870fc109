# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder of a study: what stops its making at any write leaves one that the next start takes."""
import errno
import os
import shutil
import unittest
from unittest import mock

from nht1.report import output
from nht1.study import folder
from nht1.trouble import Trouble
from support import scratch_of


class Point:
    def identity(self):
        return {'id': 'p01'}


def make(path):
    return folder.Folder(path, [Point()], lambda: {'seed': 1}, '[study]\n')


class TimeOfDay(unittest.TestCase):
    def test_it_goes_on_where_somebody_sets_the_clock_back(self):
        folder.utc_ahead_s.cache_clear()
        self.addCleanup(folder.utc_ahead_s.cache_clear)
        with mock.patch('time.time', side_effect=[1e9, 1e9 - 3600]), \
                mock.patch('time.monotonic', side_effect=[5.0, 5.0, 65.0]):
            self.assertEqual(folder.utc(), '2001-09-09T01:46:40Z')
            self.assertEqual(folder.utc(), '2001-09-09T01:47:40Z')


class Making(unittest.TestCase):
    def setUp(self):
        self.scratch = scratch_of(self)
        self.path = os.path.join(self.scratch, 's')

    def test_a_study_goes_on_where_others_of_its_name_came_in_between(self):
        def choose(name, fresh=False):
            point = Point()
            point.identity = lambda: {'id': name}
            return os.path.basename(folder.choose(self.scratch, 's', [point], fresh)), point

        def begin(name, finished=False, fresh=False):
            path, point = choose(name, fresh)
            made = folder.Folder(os.path.join(self.scratch, path), [point], lambda: {'seed': 1}, '[study]\n')
            if finished:
                folder.write_json(made.file('summary.json'), {'finished': True})
            made.lock.close()
            return path
        self.assertEqual([begin('a'), begin('b'), begin('a'), begin('b', True), begin('b')], ['s', 's-2', 's', 's-2', 's-3'])
        self.assertEqual([choose(name)[0] for name in 'abc'], ['s', 's-3', 's-4'])
        # What was begun anew takes the place of the earlier one.
        self.assertEqual([begin('a', True, fresh=True), choose('a')[0]], ['s-4', 's-5'])

    def test_what_it_was_begun_with_is_read_once(self):
        new = make(self.path)
        new.lock.close()
        with mock.patch.object(folder, 'read_json', wraps=folder.read_json) as read:
            again = make(self.path)
        self.addCleanup(again.lock.close)
        self.assertEqual([os.path.basename(call.args[0]) for call in read.call_args_list], ['study.json', 'summary.json'])
        self.assertEqual((new.resumed, again.resumed, again.record), (False, True, new.record))

    def broken_off(self, number):
        """Makes a folder of which write `number` fails."""
        def fsync(fd, left=[number]):
            left[0] -= 1
            if left[0] == 0:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
        with mock.patch('os.fsync', fsync), self.assertRaises(OSError):
            make(self.path)

    def test_a_failed_write_leaves_a_folder_that_is_taken_again(self):
        for number in 1, 2:
            self.broken_off(number)
        made = make(self.path)
        self.assertEqual(made.record['seed'], 1)
        self.assertEqual(sorted(os.listdir(self.path)), ['lock', 'runs', 'study.ini', 'study.json'])

    def test_what_was_half_written_in_a_run_is_removed_when_it_goes_aside(self):
        made = make(self.path)
        part = made.begin('p01-r01')
        for name in 'run.json.0123abcd.tmp', 'stdout':
            with open(os.path.join(part, name), 'w') as f:
                f.write('{')
        made.set_aside('p01-r01.part')
        self.assertEqual(os.listdir(os.path.join(self.path, 'interrupted', 'p01-r01-1')), ['stdout'])

    def test_what_a_killed_run_left_is_no_study(self):
        os.mkdir(self.path)
        with open(os.path.join(self.path, 'study.json.0123abcd.tmp'), 'w') as f:
            f.write('{"schema"')
        make(self.path)
        self.assertEqual(sorted(os.listdir(self.path)), ['lock', 'runs', 'study.ini', 'study.json'])

    def test_a_folder_with_anything_else_is_foreign(self):
        os.makedirs(os.path.join(self.path, 'runs', 'mine'))
        with self.assertRaises(Trouble):
            make(self.path)
        os.rmdir(os.path.join(self.path, 'runs', 'mine'))
        os.symlink('elsewhere', os.path.join(self.path, 'study.ini'))
        with self.assertRaises(Trouble):
            make(self.path)

    def test_pipes_in_the_place_of_its_files_are_not_waited_for(self):
        for name in 'study.json', 'runs/p01-r01/run.json', 'runs/p01-r01/result.json', 'lock':
            made = make(self.path)
            made.lock.close()
            os.makedirs(os.path.join(self.path, 'runs', 'p01-r01'), exist_ok=True)
            with open(os.path.join(self.path, 'runs', 'p01-r01', 'run.json'), 'w') as f:
                f.write('{"name": "p01-r01", "wall_s": 1, "ok": true, "status": 0, "trouble": null}')
            path = os.path.join(self.path, name)
            if os.path.exists(path):
                os.unlink(path)
            os.mkfifo(path)

            def read():
                made = make(self.path)
                made.results()
                made.result('p01-r01')
                made.lock.close()
            if name == 'lock':
                read()
            else:
                self.assertRaises(Trouble, read)
            shutil.rmtree(self.path)

    def test_a_run_that_failed_says_why(self):
        for ok, trouble, taken in (True, 'null', True), (False, '"status 1"', True), (False, 'null', False), \
                (True, '"status 1"', False):
            made = make(self.path)
            os.makedirs(os.path.join(self.path, 'runs', 'p01-r01'), exist_ok=True)
            with open(os.path.join(self.path, 'runs', 'p01-r01', 'run.json'), 'w') as f:
                f.write('{"name": "p01-r01", "wall_s": 1, "ok": %s, "status": 0, "trouble": %s}' %
                        (str(ok).lower(), trouble))
            if taken:
                self.assertIn('p01-r01', made.results())
            else:
                self.assertRaisesRegex(Trouble, 'not as the driver wrote it', made.results)
            made.lock.close()
            shutil.rmtree(self.path)

    def test_a_lock_that_is_a_link_is_not_followed(self):
        os.mkdir(self.path)
        os.symlink('../elsewhere', os.path.join(self.path, 'lock'))
        self.assertRaises(Trouble, make, self.path)
        self.assertFalse(os.path.exists(os.path.join(self.scratch, 'elsewhere')))

    def test_a_list_of_tables_that_is_damaged_names_none(self):
        os.mkdir(self.path)
        path = os.path.join(self.path, output.LIST)
        os.mkfifo(path)
        self.assertEqual(output.listed(self.path), {})
        os.unlink(path)
        with open(path, 'w') as f:
            f.write('[' * 100000)
        self.assertEqual(output.listed(self.path), {})


class Writing(unittest.TestCase):
    def setUp(self):
        self.path = os.path.join(scratch_of(self), 'job.sh')

    def put(self, end, content):
        with open(self.path + end, 'w') as f:
            f.write(content)

    def beside(self):
        return sorted(name[len('job.sh'):] for name in os.listdir(os.path.dirname(self.path)))

    def test_the_users_own_temporary_file_stays(self):
        self.put('.tmp', 'dear diary')
        os.symlink(self.path + '.tmp', self.path + '.01234567.tmp')
        folder.write_text(self.path, 'exit 0\n')
        self.assertEqual(self.beside(), ['', '.01234567.tmp', '.tmp'])
        with open(self.path) as f, open(self.path + '.tmp') as mine:
            self.assertEqual((f.read(), mine.read()), ('exit 0\n', 'dear diary'))

    def test_what_a_killed_run_left_is_removed(self):
        self.put('.01234567.tmp', 'half a fi')
        folder.write_text(self.path, 'exit 0\n')
        self.assertEqual(self.beside(), [''])

    def test_paths_that_are_not_utf_8_are_as_they_are(self):
        folder.write_text(self.path, 'cd %s\n' % os.fsdecode(b'a\xffb'))
        with open(self.path, 'rb') as f:
            self.assertEqual(f.read(), b'cd a\xffb\n')

    def test_a_failed_write_changes_nothing(self):
        self.put('', 'exit 1\n')
        with mock.patch('os.fsync', side_effect=OSError(errno.ENOSPC, 'No space left on device')), \
                self.assertRaises(OSError) as caught:
            folder.write_text(self.path, 'exit 0\n', replace=True)
        self.assertEqual(caught.exception.filename, self.path)
        self.assertEqual(self.beside(), [''])
        with open(self.path) as f:
            self.assertEqual(f.read(), 'exit 1\n')

    def test_a_folder_that_cannot_be_listed_is_written_to(self):
        with mock.patch('os.listdir', side_effect=PermissionError(errno.EACCES, 'Permission denied')):
            folder.write_text(self.path, 'exit 0\n')
        self.assertEqual(self.beside(), [''])
