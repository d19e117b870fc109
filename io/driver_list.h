/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Floor 1. Every driver, in the order of --io help. No guard: it is included once for each use,
 * with IO_DRIVER(x) defined to what is wanted of the driver io_driver_x in driver_x.c. */
IO_DRIVER(null)
IO_DRIVER(serial)
IO_DRIVER(posix)
IO_DRIVER(token)
IO_DRIVER(twophase)
IO_DRIVER(async)
#ifdef HAVE_LIBURING
IO_DRIVER(uring)
#endif
IO_DRIVER(mpiio)
IO_DRIVER(mpiio_indep)
IO_DRIVER(mpiio_async)
IO_DRIVER(perrank)
IO_DRIVER(check)
