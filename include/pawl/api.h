/* api.h - which names the library exports, what printf checks, and how structs grow. types.h
 * includes it.
 *
 * Initialisers have two suffixes. PAWL_X_INIT is the whole value, braces included:
 *
 *     pawl_error error = PAWL_ERROR_INIT;
 *
 * PAWL_X_HEAD is the first members of a list that the program writes itself, braces and all:
 *
 *     pawl_send_options later = {PAWL_SEND_OPTIONS_HEAD, .delay = PAWL_MINUTES(5)};
 *
 * A program and the library that it runs with may be of different versions. With the same PAWL_ABI
 *
 *     a struct that says its size gets new members at its end. Its initialiser writes the size as
 *         its first member, or that of the struct that lists it does (pawl_application,
 *         pawl_endpoint_options, pawl_record). The library reads and writes no more than this size; a
 *         member that the program does not have counts as zero. A size that is 0, or larger
 *         than the library's own, is refused. A table of functions (pawl_store_ops,
 *         pawl_transport_ops, pawl_inbound_ops) may be larger, since the library calls no
 *         function that it does not know, and has to reach to the last function that is needed;
 *     no other struct changes. These are values (pawl_text, pawl_error), queries, rows and lists of rows.
 *
 * A change that breaks this raises PAWL_ABI, and programs, drivers and modules are compiled again.
 *
 * Tests: tests/system/headers_before.sh, tests/unit/runtime/test_older_structs.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_API_H
#define PAWL_API_H

/* Also the number in the library's name, libpawl.so.N, which the system's loader searches. */
#define PAWL_ABI 5u

#if defined(__GNUC__)
#define PAWL_API __attribute__((visibility("default")))
#define PAWL_PRINTF(format_index, first_index) \
    __attribute__((format(printf, format_index, first_index)))
#else
#define PAWL_API
#define PAWL_PRINTF(format_index, first_index)
#endif

/* The braces and a member of an initialiser, for the macros of other headers. Compilers do not warn of what stands in a
 * system header: g++ -Wextra would of each member that an initialiser leaves out, C++17 of a designator. */
#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC system_header
#endif
#define PAWL__BRACES(...) \
    {                     \
        __VA_ARGS__       \
    }
#define PAWL__SET(member, value) .member = value

#endif
