/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which machines are virtual, by what their systems say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/virtual.h"

/* Makes the file, with its folders, below root. */
static void put(const char *root, const char *path, const char *text)
{
    char name[512];
    snprintf(name, sizeof name, "%s%s", root, path);
    for (char *at = name + strlen(root) + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = '\0';
        mkdir(name, 0700);
    }
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void machines_are_told_by_their_systems_files(void **unused)
{
    (void)unused;
    static const struct {
        bool is;
        const char *file[4]; /* path, text, path, text */
    } machine[] = {
        {false, {NULL}},
        {true, {"/proc/cpuinfo", "model : x\nflags\t: fpu hypervisor lm\n"}},
        {false, {"/proc/cpuinfo", "flags\t: fpu lm\n", "/sys/class/dmi/id/sys_vendor", "QEMU\n"}},
        {true, {"/proc/cpuinfo", "Features\t: fp\n", "/sys/class/dmi/id/sys_vendor", "QEMU\n"}},
        {true, {"/sys/class/dmi/id/product_name", "Virtual Machine\n"}},
        {true, {"/sys/class/dmi/id/sys_vendor", "Amazon EC2\n"}},
        {false,
         {"/sys/class/dmi/id/sys_vendor", "Amazon EC2\n", "/sys/class/dmi/id/product_name",
          "c6g.metal\n"}},
        {false, {"/sys/class/dmi/id/sys_vendor", "Dell Inc.\n"}},
        {true, {"/proc/device-tree/hypervisor/compatible", "linux,kvm"}},
        {true, {"/proc/device-tree/fw-cfg@9020000/reg", ""}},
        {false, {"/proc/device-tree/model", "board"}},
        {true, {"/sys/hypervisor/type", "xen\n"}},
        {true, {"/proc/sysinfo", "Manufacturer: IBM\nVM00 Control Program: KVM/Linux\n"}},
    };
    for (size_t i = 0; i < sizeof machine / sizeof machine[0]; i++) {
        char root[] = "/tmp/nht1-virtual-XXXXXX", command[64];
        assert_non_null(mkdtemp(root));
        for (int f = 0; f < 4 && machine[i].file[f]; f += 2)
            put(root, machine[i].file[f], machine[i].file[f + 1]);
        const bool is = virtual_machine(root);
        snprintf(command, sizeof command, "rm -r %s", root);
        assert_int_equal(system(command), 0);
        if (is != machine[i].is) print_error("machine %zu\n", i);
        assert_int_equal(is, machine[i].is);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(machines_are_told_by_their_systems_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
