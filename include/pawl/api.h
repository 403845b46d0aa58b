/* api.h - which names the library exports, and what printf checks. types.h includes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_API_H
#define PAWL_API_H

#if defined(__GNUC__)
#define PAWL_API __attribute__((visibility("default")))
#define PAWL_PRINTF(format_index, first_index) \
    __attribute__((format(printf, format_index, first_index)))
#else
#define PAWL_API
#define PAWL_PRINTF(format_index, first_index)
#endif

#endif
