/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The system record: against what the C library and the shell say. */
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/err.h"
#include "base/json.h"
#include "base/sys.h"

static void processors(void **state)
{
    (void)state;
    struct sys_cpu cpu;
    sys_cpu(&cpu);
    assert_true(strlen(cpu.model) > 0);
    assert_int_equal(cpu.cpus_n, sysconf(_SC_NPROCESSORS_ONLN));
    assert_true(cpu.cores_n >= 1 && cpu.cores_n <= cpu.cpus_n);
    assert_true(cpu.cores_allowed_n >= 1 && cpu.cores_allowed_n <= cpu.cores_n);
    assert_true(cpu.cpus_allowed_n >= cpu.cores_allowed_n && cpu.cpus_allowed_n <= cpu.cpus_n);
    assert_true(sys_cache2_bytes() == 0 || sys_cache2_bytes() >= 64 << 10);
}

/* Some processors give their name in 48 characters, filled up with blanks. */
static void processor_name_has_no_blanks_to_spare(void **state)
{
    (void)state;
    static const char object[] =
        "<object type=\"%s\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" "
        "allowed_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\" allowed_nodeset=\"0x1\">";
    static const char *const type[] = {"Machine", "NUMANode", "Package", "PU"};
    char name[] = "/tmp/nht1-topology-XXXXXX";
    struct sys_cpu cpu;
    const int fd = mkstemp(name);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    assert_non_null(f);
    fprintf(f, "<topology version=\"2.0\">");
    for (int i = 0; i < 4; i++) {
        fprintf(f, object, type[i]);
        if (i == 1) fprintf(f, "</object>");
        if (i == 2) fprintf(f, "<info name=\"CPUModel\" value=\"Some  CPU 0   @ 2 GHz   \"/>");
    }
    fprintf(f, "</object></object></object></topology>");
    fclose(f);
    char *components = getenv("HWLOC_COMPONENTS"); /* of the test's runner; it would come first */
    components = components ? strdup(components) : NULL;
    unsetenv("HWLOC_COMPONENTS");
    setenv("HWLOC_XMLFILE", name, 1);
    sys_cpu(&cpu);
    unsetenv("HWLOC_XMLFILE");
    if (components) setenv("HWLOC_COMPONENTS", components, 1);
    free(components);
    unlink(name);
    assert_string_equal(cpu.model, "Some CPU 0 @ 2 GHz");
}

/* As when a launcher binds a rank: the host stays as large as it is. */
static void one_processor_allowed(void **state)
{
    (void)state;
    struct sys_cpu before, bound;
    cpu_set_t all, one;
    int cpu = sched_getcpu();
    assert_true(cpu >= 0);
    sys_cpu(&before);
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    sys_cpu(&bound);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    assert_int_equal(bound.cpus_allowed_n, 1);
    assert_int_equal(bound.cores_allowed_n, 1);
    assert_int_equal(bound.cores_n, before.cores_n);
    assert_int_equal(bound.cpus_n, before.cpus_n);
}

static void memory(void **state)
{
    (void)state;
    struct sys_memory m;
    sys_memory(&m);
    assert_true(m.total_bytes > INT64_C(1) << 26);
    assert_true(m.available_bytes > 0 && m.available_bytes <= m.total_bytes);
    assert_true(m.limit_bytes >= 0 && m.limit_bytes < m.total_bytes);
    assert_int_equal(m.usable_bytes, m.limit_bytes > 0 ? m.limit_bytes : m.total_bytes);
    assert_true(m.free_bytes > 0 && m.free_bytes <= m.usable_bytes);
}

/* A tree like /sys in which a balloon has these features and pages are reported from this order. */
static bool returned(const char *features, const char *order)
{
    char command[1024], root[] = "/tmp/test_sys.XXXXXX";
    assert_non_null(mkdtemp(root));
    snprintf(command, sizeof command,
             "cd %s && mkdir -p bus/virtio/drivers/virtio_balloon/virtio3 "
             "module/page_reporting/parameters && "
             "echo %s >bus/virtio/drivers/virtio_balloon/virtio3/features && "
             "echo %s >module/page_reporting/parameters/page_reporting_order",
             root, features, order);
    assert_int_equal(system(command), 0);
    const bool yes = sys_memory_returned(root);
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
    return yes;
}

static void memory_returned_to_the_host(void **state)
{
    (void)state;
    assert_true(returned("01100101000000", "5"));
    assert_true(returned("000001", "-1"));
    assert_false(returned("01100001000000", "5"));
    assert_false(returned("01100101000000", "11"));
    assert_false(returned("011", "5"));
    assert_false(sys_memory_returned("/nowhere"));
}

static int64_t left; /* of the limits of the last tree */

/* The limit in a tree that a shell command makes, in which $g is the folder of groups. */
static int64_t group_limit(const char *make)
{
    char command[1024], root[] = "/tmp/test_sys.XXXXXX";
    assert_non_null(mkdtemp(root));
    snprintf(command, sizeof command,
             "cd %s && g=sys/fs/cgroup && mkdir -p proc/self $g/memory/jobs/7 $g/jobs/7 && %s",
             root, make);
    assert_int_equal(system(command), 0);
    const int64_t limit = sys_group_limit(root, &left);
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
    return limit;
}

static void limits_of_control_groups(void **state)
{
    (void)state;
    /* Version 2: the group's own, that of one above, the smallest of several, none. */
    assert_int_equal(
        group_limit("echo 0::/jobs/7 >proc/self/cgroup; echo 5000 >$g/jobs/7/memory.max"), 5000);
    assert_int_equal(
        group_limit("echo 0::/jobs/7 >proc/self/cgroup; echo 3000 >$g/jobs/memory.max; "
                    "echo max >$g/jobs/7/memory.max"),
        3000);
    assert_int_equal(group_limit("echo 0::/jobs/7 >proc/self/cgroup; echo 4000 >$g/memory.max; "
                                 "echo 3000 >$g/jobs/memory.max; echo 5000 >$g/jobs/7/memory.max"),
                     3000);
    assert_int_equal(group_limit("echo 0::/ >proc/self/cgroup; echo 2000 >$g/memory.max"), 2000);
    assert_int_equal(group_limit("echo 0::/jobs/7 >proc/self/cgroup; echo max >$g/memory.max"), 0);
    /* Version 1, among other controllers; a group that cannot be seen from inside a container. */
    assert_int_equal(group_limit("printf '4:cpu:/\n3:hugetlb,memory:/jobs/7\n0::/\n' "
                                 ">proc/self/cgroup; "
                                 "echo 6000 >$g/memory/jobs/memory.limit_in_bytes"),
                     6000);
    assert_int_equal(group_limit("echo 3:memory:/out/of/sight >proc/self/cgroup; "
                                 "echo 7000 >$g/memory/memory.limit_in_bytes"),
                     7000);
    assert_int_equal(group_limit("echo nonsense >proc/self/cgroup"), 0);
    assert_int_equal(sys_group_limit("/nowhere", &left), 0);
    assert_true(left == INT64_MAX);
    /* What is left: of each group what it has used, but for pages of files; the smallest. */
    group_limit("echo 0::/jobs/7 >proc/self/cgroup; echo 5000 >$g/jobs/7/memory.max; echo 1000 "
                ">$g/jobs/7/memory.current; "
                "printf 'anon 900\nactive_file 200\ninactive_file 100\nslab_reclaimable 50\n' "
                ">$g/jobs/7/memory.stat; "
                "echo 9000 >$g/jobs/memory.max; echo 5500 >$g/jobs/memory.current");
    assert_int_equal(left, 3500); /* of the group above, 9000 - 5500 */
    group_limit("echo 3:memory:/jobs/7 >proc/self/cgroup; echo 6000 "
                ">$g/memory/jobs/7/memory.limit_in_bytes; "
                "echo 4000 >$g/memory/jobs/7/memory.usage_in_bytes; "
                "printf 'active_file 5\ntotal_active_file 300\ntotal_inactive_file 100\n' "
                ">$g/memory/jobs/7/memory.stat");
    assert_int_equal(left, 2400);
    /* So does what the kernel keeps of files' names. */
    group_limit("echo 0::/jobs/7 >proc/self/cgroup; echo 5000 >$g/jobs/7/memory.max; echo 4000 "
                ">$g/jobs/7/memory.current; "
                "echo slab_reclaimable 3000 >$g/jobs/7/memory.stat");
    assert_int_equal(left, 4000);
    group_limit("echo 3:memory:/jobs/7 >proc/self/cgroup; g=$g/memory/jobs/7; echo 6000 "
                ">$g/memory.limit_in_bytes; "
                "echo 4000 >$g/memory.usage_in_bytes; echo 1000 >$g/memory.kmem.usage_in_bytes");
    assert_int_equal(left, 3000);
    group_limit("echo 0::/jobs/7 >proc/self/cgroup; echo 5000 >$g/jobs/7/memory.max; echo 6000 "
                ">$g/jobs/7/memory.current");
    assert_int_equal(left, 0);
}

static void record(void **state)
{
    (void)state;
    char host[256];
    const char *text;
    json_t *cpu, *memory_of, *openmp, *caches;
    assert_int_equal(gethostname(host, sizeof host), 0);
    assert_int_equal(setenv("OMP_TEST_ONLY", "a=b", 1), 0);
    json_t *j = sys_json();
    unsetenv("OMP_TEST_ONLY");
    assert_non_null(j);
    assert_int_equal(js_get_text(j, "system", "host", &text), 0);
    assert_string_equal(text, host);
    assert_int_equal(js_get_text(j, "system", "kernel", &text), 0);
    assert_memory_equal(text, "Linux ", 6);
    assert_int_equal(js_get_text(j, "system", "compiler", &text), 0);
    assert_true(strlen(text) > 0);
    assert_int_equal(js_get_text(j, "system", "flags", &text), 0);
    assert_int_equal(js_get_object(j, "system", "cpu", &cpu), 0);
    assert_int_equal(js_get_array(cpu, "cpu", "caches", &caches), 0);
    assert_int_equal(js_get_object(j, "system", "memory", &memory_of), 0);
    assert_int_equal(js_get_object(j, "system", "openmp", &openmp), 0);
    assert_int_equal(js_get_text(openmp, "openmp", "OMP_TEST_ONLY", &text), 0);
    assert_string_equal(text, "a=b");
    json_decref(j);
}

/* The first word that the shell command prints. */
static void ask(const char *command, char *out)
{
    FILE *f = popen(command, "r");
    assert_non_null(f);
    if (fscanf(f, "%255s", out) != 1) out[0] = '\0';
    pclose(f);
}

static void mounts_as_df_says(void **state)
{
    (void)state;
    static const char *const path[] = {"/", "/tmp", "/dev/shm", "/proc", "."};
    for (int p = 0; p < 5; p++) {
        char command[128], want[256];
        struct sys_fs fs;
        snprintf(command, sizeof command, "df --output=target '%s' 2>/dev/null | tail -n 1",
                 path[p]);
        ask(command, want);
        if (!want[0]) continue;
        assert_int_equal(sys_path_fs(path[p], &fs), 0);
        assert_string_equal(fs.mount, want);
        snprintf(command, sizeof command, "df --output=fstype '%s' | tail -n 1", path[p]);
        ask(command, want);
        assert_string_equal(fs.type, want);
        assert_true(strlen(fs.options) >= 2);
        assert_int_equal(fs.in_memory, strcmp(fs.type, "tmpfs") == 0);
    }
}

static void sizes(void **state)
{
    (void)state;
    struct statvfs s;
    struct sys_fs fs;
    assert_int_equal(statvfs("/", &s), 0);
    assert_int_equal(sys_path_fs("/", &fs), 0);
    assert_true(fs.total_bytes == (int64_t)(s.f_blocks * s.f_frsize));
    assert_true(fs.free_bytes > 0 && fs.free_bytes <= fs.total_bytes);
    assert_true(fs.block_bytes >= 512);
    json_t *j = sys_fs_json(&fs);
    assert_string_equal(json_string_value(json_object_get(j, "type")), fs.type);
    assert_true(json_is_boolean(json_object_get(j, "in_memory")));
    json_decref(j);
}

/* /proc has no blocks: neither full nor empty. */
static void room_that_is_not_told(void **state)
{
    (void)state;
    struct sys_fs fs;
    assert_int_equal(sys_path_fs("/proc", &fs), 0);
    assert_true(fs.total_bytes == 0 && fs.free_bytes == -1);
    assert_true(sys_free_bytes("/proc") == -1 && sys_free_bytes("/no/such/directory/f") == -1);
    assert_true(sys_free_bytes("/tmp/no-such-file.bin") >= 0);
    assert_string_equal(sys_full_words("/proc", INT64_MAX), "");
    assert_string_equal(sys_full_words("/tmp/no-such-file.bin", 0), "");
    assert_string_equal(sys_full_words("/tmp/no-such-file.bin", INT64_MAX),
                        ": the file system is full");
    json_t *j = sys_fs_json(&fs);
    assert_true(json_is_null(json_object_get(j, "free_bytes")));
    json_decref(j);
}

/* As some file systems of FUSE answer. */
static bool cannot_be_asked;

int statfs(const char *path, struct statfs *to)
{
    int (*real)(const char *, struct statfs *) =
        (int (*)(const char *, struct statfs *))dlsym(RTLD_NEXT, "statfs");
    errno = ENOSYS;
    return cannot_be_asked ? -1 : real(path, to);
}

int statvfs(const char *path, struct statvfs *to)
{
    int (*real)(const char *, struct statvfs *) =
        (int (*)(const char *, struct statvfs *))dlsym(RTLD_NEXT, "statvfs");
    errno = ENOSYS;
    return cannot_be_asked ? -1 : real(path, to);
}

static void a_file_system_that_cannot_be_asked_has_a_name(void **state)
{
    (void)state;
    struct sys_fs asked, fs;
    assert_int_equal(sys_path_fs("/tmp", &asked), 0);
    cannot_be_asked = true;
    assert_int_equal(sys_path_fs("/tmp", &fs), 0);
    cannot_be_asked = false;
    assert_string_equal(fs.type, asked.type);
    assert_int_equal(fs.free_bytes, -1);
    assert_int_equal(fs.total_bytes, 0);
}

static void files_that_do_not_exist_yet(void **state)
{
    (void)state;
    struct sys_fs there, fs;
    assert_int_equal(sys_path_fs("/tmp", &there), 0);
    assert_int_equal(sys_path_fs("/tmp/no-such-file.bin", &fs), 0);
    assert_string_equal(fs.mount, there.mount);
    assert_int_equal(sys_path_fs("no-such-file.bin", &fs), 0);
    assert_int_equal(sys_path_fs("/no-such-file.bin", &fs), 0);
    assert_string_equal(fs.mount, "/");
    err_clear();
    assert_int_equal(sys_path_fs("/no/such/directory/f", &fs), ERR_IO);
    assert_non_null(strstr(err_message(), "/no/such/directory/f"));
    err_clear();
    assert_int_equal(sys_path_fs("", &fs), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processors),
        cmocka_unit_test(processor_name_has_no_blanks_to_spare),
        cmocka_unit_test(one_processor_allowed),
        cmocka_unit_test(memory),
        cmocka_unit_test(memory_returned_to_the_host),
        cmocka_unit_test(limits_of_control_groups),
        cmocka_unit_test(record),
        cmocka_unit_test(a_file_system_that_cannot_be_asked_has_a_name),
        cmocka_unit_test(mounts_as_df_says),
        cmocka_unit_test(sizes),
        cmocka_unit_test(room_that_is_not_told),
        cmocka_unit_test(files_that_do_not_exist_yet),
    };
    return cmocka_run_group_tests_name("sys", tests, NULL, NULL);
}
