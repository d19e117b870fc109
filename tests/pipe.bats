#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The pipelined line solves on more ranks than the other tests start.

load helpers

@test "ten ranks in a line, one of them slow: no deadlock" {
    slow
    run mpi_run 10 "$NHT1_TESTBIN/mpi_pipe"
    [ "$status" -eq 0 ]
}
