# SPDX-License-Identifier: GPL-3.0-or-later
"""nht1-report: one page out of any number of results.

cli           the commands
frame         what they share: parser, libraries, a page's way to its files
output        files: whole or not at all, nothing of others
page          parts of a report, and its notations
figures draw  drawings by matplotlib
published     what the papers printed
rounds        zeta and the verdict over the rounds of jobs and studies
build         the sections in their order: part_verdict  part_search  part_bt  part_beff
              part_beffio  part_workload  part_profile  part_balance  part_system
trend         a metric over time and versions"""
