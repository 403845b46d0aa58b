/* modes.h - files whose mode forbids what a test attempts, for root too, which may pass
 * over every mode. Root stays root meanwhile: another user may not enter a folder of
 * root's, where the sources, the build and the temporary files may well be.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TEST_MODES_H
#define PAWL_TEST_MODES_H

#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The calling thread keeps to the modes of files, or passes over them again if it could
 * before. False when the system does not let it. */
static inline bool modes_count(bool counts)
{
    const uint32_t                  rights = 1U << CAP_DAC_OVERRIDE | 1U << CAP_DAC_READ_SEARCH;
    struct __user_cap_header_struct head   = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct   data[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &head, data) != 0)
        return false;
    data[0].effective =
        counts ? data[0].effective & ~rights : data[0].effective | (data[0].permitted & rights);
    return syscall(SYS_capset, &head, data) == 0;
}

#endif
