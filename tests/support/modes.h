/* modes.h - makes file modes apply to root, too, which may otherwise ignore them. The user stays root, since another
 * user might not reach the sources, the build and the temporary files.
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

/* Makes file modes apply to the calling thread, or undoes that. False: the system does not allow it. */
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
