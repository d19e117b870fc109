# SPDX-License-Identifier: GPL-3.0-or-later
"""What a page says of a search for the best way to write."""
import unittest

from nht1 import results
from nht1.report.build import Report
from support import bt_result


def command(run, out):
    """The command in the section about a search. run: what was noted beside the result."""
    root = bt_result(search={'ended': 'settled', 'candidates': [], 'best': {
        'label': 'posix', 'answer': 'posix will do.', 'command': 'OMP_NUM_THREADS=2 mpirun -np 1 nht1-bt --io posix --out %s' % out}})
    page = Report(results.Results([results.Result('search/result.json', 'nht1-bt', 1, root, run)]), 0.95).page
    first = next(i for i, p in enumerate(page.parts) if p.get('text') == 'posix will do.')
    return page.parts[first + 1]['text']


class Command(unittest.TestCase):
    def test_leads_into_a_folder_that_stays_as_on_the_terminal(self):
        for out, right in (('./nht1-files-h-0123456789abcdef/dump.bin', ' --out ./btout.bin'),
                           ('/scratch/my files/nht1-files-h-0123456789abcdef/dump.bin', " --out '/scratch/my files/btout.bin'"),
                           ('runs/out/x/dumps/dump.bin', '')):
            found = command({'command': ['mpirun', 'nht1-bt', '--io', 'auto', '--out', out]}, "'%s'" % out)
            self.assertEqual(found, 'OMP_NUM_THREADS=2 mpirun -np 1 nht1-bt --io posix' + right)

    def test_of_a_search_that_nobody_else_has_started_is_its_own(self):
        self.assertEqual(command({}, '/there/x.bin'), 'OMP_NUM_THREADS=2 mpirun -np 1 nht1-bt --io posix --out /there/x.bin')

    def test_has_the_component_of_its_study(self):
        run = {'command': ['nht1-bt', '--out', 'd/dump.bin'], 'settings': {'env.OMPI_MCA_io': 'romio321'}}
        self.assertTrue(command(run, 'd/dump.bin').startswith('OMPI_MCA_io=romio321 OMP_NUM_THREADS=2 '))


if __name__ == '__main__':
    unittest.main()
