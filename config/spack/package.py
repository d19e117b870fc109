# SPDX-License-Identifier: GPL-3.0-or-later
# Recipe for Spack. Untried: Spack was not available where it was written. The source is the tarball
# of `make dist`; put its place into url and its checksum (sha256sum) into version().
from spack.package import *


class Nht1(MakefilePackage):
    """HPC benchmark suite that measures whether a computer's file system and network keep up with
    its processors: BT with dumps of the solution (NHT-1, BT-IO), b_eff, b_eff_io, access patterns
    and profiles of MPI-IO."""

    url = "file:///path/to/nht1-0.1.0.tar.gz"
    license("GPL-3.0-or-later")

    version("0.1.0", sha256="0000000000000000000000000000000000000000000000000000000000000000")

    variant("uring", default=False, description="Writer that uses io_uring")
    variant("formats", default=False, description="HDF5 and netCDF files read by nht1-verify")
    variant("reports", default=True, description="Python libraries of the reports")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("jansson")
    depends_on("gsl")
    depends_on("hwloc")
    depends_on("expat")
    depends_on("zlib-api")
    depends_on("liburing", when="+uring")
    depends_on("hdf5~mpi", when="+formats")
    depends_on("netcdf-c~mpi", when="+formats")
    depends_on("python@3.9:", type=("build", "run"))
    depends_on("py-jinja2", type="run", when="+reports")
    depends_on("py-matplotlib", type="run", when="+reports")

    def settings(self):
        words = ["CC=" + spack_cc, "MPICC=" + self.spec["mpi"].mpicc, "PREFIX=" + self.prefix]
        for variant, without in (("+uring", ["URING="]), ("+formats", ["HDF5_SERIAL=", "NETCDF="])):
            words += [] if self.spec.satisfies(variant) else without
        return words

    def build(self, spec, prefix):
        make("all", "man", *self.settings())

    def install(self, spec, prefix):
        make("install", *self.settings())
