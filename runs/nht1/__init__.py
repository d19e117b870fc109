# SPDX-License-Identifier: GPL-3.0-or-later
"""nht1 in Python: studies, comparisons and reports. What is measured, computed or proved is done by
the programs in C; every statistic comes from nht1-stats."""
