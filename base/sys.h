/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_SYS_H
#define BASE_SYS_H
/* Layer 0. What this program runs on: processors, memory, kernel, compiler, file systems. Knows no
 * MPI (base/par.h has that part). All functions are local and describe this host and process. What
 * cannot be found out is "" or 0, never an error. */
#include <jansson.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#define SYS_PATH_MAX 4096

/* Processors. A core has one or more logical processors (cpus). */
struct sys_cpu {
    char model[128];
    int packages_n, cores_n, cpus_n;     /* of the host, as far as its limits let us see it */
    int cores_allowed_n, cpus_allowed_n; /* in this process's affinity mask */
};
void sys_cpu(struct sys_cpu *out);

/* Logical processors that this process may use; 0: the system does not tell, or has more than fit
 * into a mask. mask: [out] a number that is equal for equal sets of them; may be NULL. */
int sys_cpus_allowed(uint64_t *mask);

/* Tells of logical processors that this process may use besides, where the mask of the thread that asks is but one's of several,
 * as with OMP_PROC_BIND: sys_cpus_allowed and sys_cpu count them, too. */
void sys_cpus_tell(const cpu_set_t *more);

/* Lets the thread that calls run on those, too: one that helps inherits the mask of the thread that has made it. */
void sys_cpus_unbind(void);

/* The file system that holds a path. */
struct sys_fs {
    char type[64];    /* "ext4", "nfs4", "lustre", "tmpfs" */
    char source[256]; /* device or server */
    char mount[SYS_PATH_MAX];
    char options[1024];  /* of the mount and of the file system, joined by ',' */
    int64_t total_bytes; /* 0: it does not tell */
    int64_t free_bytes;  /* available to this user; -1: it does not tell */
    int64_t block_bytes; /* preferred size of transfers */
    bool in_memory;      /* tmpfs and the like: files take the computer's memory */
    bool network;        /* served by other hosts */
    /* Files may lie in this computer's memory where that is not seen and not dropped: in the file system below FUSE,
     * below a loop device without direct I/O, or in a cache of the file system's own (ZFS, GPFS). */
    bool hides;
    bool never_flushed; /* fsync does nothing: an overlay that is mounted volatile */
    bool journals_data; /* what was flushed is in the journal, and its pages are dirty still */
};

/* Fills in out for a path, or for the directory it would be created in when it does not exist yet.
 * Returns 0, or ERR_IO with a message when there is no such directory. */
int sys_path_fs(const char *path, struct sys_fs *out);

/* Bytes that the file system of a path, as above, has free for this user, in memory no more than that has; -1: it does
 * not tell, or cannot be asked. Sets no message. */
int64_t sys_free_bytes(const char *path);

/* How long a file of this process may become (ulimit -f); INT64_MAX: there is no limit. */
int64_t sys_file_limit(void);

/* Why a write of so many bytes was short, ": the file system is full" where it has less room and tells; else "". */
const char *sys_full_words(const char *path, int64_t bytes);

/* The type, source, mount and options alone, by the name of the path: a file system that does not
 * answer is not asked. Links are not followed. */
void sys_path_mount(const char *path, struct sys_fs *out);

/* What sys_path_fs tells as an object: type, source, mount, options, total_bytes, free_bytes (null: not
 * told), block_bytes, in_memory, network. New reference. */
json_t *sys_fs_json(const struct sys_fs *fs);

/* Memory of the host, and what of it this process may have. */
struct sys_memory {
    int64_t total_bytes, available_bytes; /* of the host; available: now, 0 when it does not tell */
    int64_t limit_bytes;                  /* of this process's control group, 0: none */
    int64_t usable_bytes;                 /* the limit, or all of the host */
    int64_t free_bytes; /* available now and left of the limit; INT64_MAX: not known */
};
void sys_memory(struct sys_memory *out);

/* The smallest memory limit of this process's control group and of those that it is in (a job's, a
 * container's), version 1 and 2; 0 when there is none. root: "", or what stands for / in a test. left: [out] what
 * programs can still have within all of them, pages of files given back; INT64_MAX when there is none. */
int64_t sys_group_limit(const char *root, int64_t *left);

/* The second-level cache of a core of this machine, as the C library tells it; 0: it does not. */
int64_t sys_cache2_bytes(void);

/* The number of the batch job that this process belongs to, as Slurm, PBS or LSF tell it; NULL
 * outside of one. Borrowed. */
const char *sys_job_id(void);

/* Whether this is a virtual machine that gives freed memory back to its host at once (free page
 * reporting of the virtio balloon), so that every page is new to the host when it is used next:
 * writing into the page cache is then ten and more times slower than it would be. sysfs: "/sys". */
bool sys_memory_returned(const char *sysfs);

/* What may have a file system's data in memory where nodes neither see nor drop it, as words: "the servers of ..." or "the host
 * of ..."; NULL: nothing that is known. */
const char *sys_fs_behind(const struct sys_fs *fs);

/* The "system" object of results: host, kernel, cpu {model, packages_n, cores_n, cpus_n,
 * cores_allowed_n, cpus_allowed_n, caches [{level, bytes, n}]}, memory {total_bytes,
 * available_bytes, limit_bytes, returned_to_host}, compiler, flags, openmp {OMP_* and GOMP_* of the
 * environment}. New reference, NULL without memory. */
json_t *sys_json(void);

#endif
