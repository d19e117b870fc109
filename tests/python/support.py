# SPDX-License-Identifier: GPL-3.0-or-later
"""Results for tests, as small as they can be, and a folder."""
import tempfile


def scratch_of(test):
    """The path of a folder that goes with a test. From setUp."""
    folder = tempfile.TemporaryDirectory()
    test.addCleanup(folder.cleanup)
    return folder.name


def bt_result(t_t=(1.2, 1.21, 1.22), t_c=(1.0, 1.01, 1.02), writers=('posix',), **members):
    """A result of nht1-bt: a round for each T_C, in which it computes alone and every writer writes."""
    runs, quiet = [], {'undisturbed': True, 'disturbed': False, 'processors_shared': False}
    for i, alone in enumerate(t_c, 1):
        runs.append({'driver': 'none', 'round': i, 't_t_s': alone, 'verified': True, 'completed': True,
                     'stamps': [], 'disturbance': quiet})
        runs += [{'driver': w, 'round': i, 't_t_s': t_t[i - 1], 't_c_s': 1.0, 'verified': True, 'completed': True,
                  'write_rate_bytes_per_s': 1e6 / t_t[i - 1], 'file': {'file_system': 'ext4', 'run_id': 'x'},
                  'options': {}, 'stamps': [], 'disturbance': quiet} for w in writers]
    return {'schema': 'nht1-bt/1',
            'problem': {'n': 12, 'steps': 60, 'interval': 10, 'dumps_n': 6, 'dt': 0.01, 'layout': 'mijk'},
            'options': {'sync': 'end'}, 'options_changed': {},
            'system': {'ranks': 2, 'threads': 1, 'nodes': 1, 'cores_of_nodes': 2, 'cores_in_use': 2,
                       'host': 'h', 'cpu': {'model': 'c'}}, 'runs': runs, 'stamps': [], **members}
