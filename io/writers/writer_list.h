/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Layer 1. Every writer, in the order of --io help. No guard: it is included once for each use,
 * with IO_WRITER(x) defined to what is wanted of the writer io_writer_x in writer_x.c. */
IO_WRITER(null)
IO_WRITER(serial)
IO_WRITER(posix)
IO_WRITER(token)
IO_WRITER(token_gather) /* in writer_token.c */
IO_WRITER(twophase)
IO_WRITER(async)
#ifdef HAVE_LIBURING
IO_WRITER(uring)
#endif
IO_WRITER(mpiio)
IO_WRITER(mpiio_indep)
IO_WRITER(mpiio_async)
IO_WRITER(hdf5) /* in writer_container.c, as the next three */
IO_WRITER(hdf5_indep)
IO_WRITER(pnetcdf)
IO_WRITER(pnetcdf_indep)
IO_WRITER(perrank)
IO_WRITER(check)
