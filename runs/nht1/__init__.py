# SPDX-License-Identifier: GPL-3.0-or-later
"""Studies, reports and comparisons over the programs of nht1, from the bottom up:

tools    where the programs and the files of this installation are, which Python can do what
stats    every statistic, asked of nht1-stats
study/   nht1-study: drives a study; its __init__ lists its parts
"""
