/* api.h - which names the library exports, and what printf checks. types.h includes it.
 *
 * Initialisers have two suffixes. PAWL_X_INIT is the whole value, braces included:
 *
 *     pawl_error error = PAWL_ERROR_INIT;
 *
 * PAWL_X_HEAD is the first members of a list that the program writes itself, braces and all:
 *
 *     pawl_send_options later = {PAWL_SEND_OPTIONS_HEAD, .delay = PAWL_MINUTES(5)};
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
