/* module.h - finds and loads the modules of pawl: drivers, the pages of health and metrics,
 * benchmarks.
 *
 * A program has one of two files behind this header. With module.c, in libpawl.so, the module
 * NAME is the file libpawl-NAME.so. With src/store/linked/linked.c, in libpawl.a and in the amalgamation,
 * modules are linked into the program, and no file is loaded: a module would bring libpawl.so, a
 * second library, with it.
 *
 * Folders that are searched for the file, in this order:
 *
 *     1. the library's own, and `pawl/ABI` in it    a build folder; an installation, wherever it is
 *     2. the one that was configured                <libdir>/pawl/ABI of CMAKE_INSTALL_PREFIX
 *     3. those of PAWL_DRIVER_PATH, by colons       any other folders
 *
 * Because of `pawl/ABI`, libraries of different ABI (PAWL_ABI, docs/versions.md) in one folder have modules of their
 * own.
 *
 * The library's own folder comes first, so that a PAWL_DRIVER_PATH left over from another
 * installation does not load a module of that installation. To replace an installed module,
 * load one by its path (pawl_store_load, `pawl --load`).
 *
 * Threads: any. Tests: tests/unit/store/test_store_module.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_CORE_MODULE_H
#define PAWL_STORE_CORE_MODULE_H

#include "base/object.h"
#include "pawl/base.h"

/* The path of libpawl-NAME.so, or NAME when it is linked in, for pawl__module_open; false when there is none. */
bool pawl__module_find(const char *name, char path[PAWL__OBJECT_PATH_SIZE]);

/* The end of an error's text when there is none: "install the package libpawl5-driver-NAME, or load one of your
 * own; looked for ...". `other` is the part behind the name. Returns `text`, cut to `size`. */
const char *pawl__module_absent(const char *name, const char *other, char *text, size_t size);
/* "looked for libpawl-NAME.so in /a, /a/pawl/5 and PAWL_DRIVER_PATH (not set)". Of module.c alone. Returns
 * `text`, cut to `size`. */
const char *pawl__module_searched(const char *name, char *text, size_t size);

/* Loads the file and finds the table of that name in it, whose first member is its size in
 * bytes: at least `size`. On success `*module` is the caller's to close, when it is not
 * wanted; else it is NULL, as it is for a module that is linked in. PAWL_EUNREACHABLE: the file cannot be loaded;
 * PAWL_ECONFIG: it has no such table, or a shorter one. */
pawl_code pawl__module_open(const char *path, const char *symbol, size_t size, void **module,
                            const void **table, pawl_error *error);
/* Accepts NULL. */
void pawl__module_close(void *module);

/* The table of the module NAME, whose first member is its size in bytes: at least `size`.
 * It stays loaded until the process ends. `what` is what the module is for: "health and
 * metrics". PAWL_EUNREACHABLE: not installed, and where it was looked for; PAWL_ECONFIG:
 * no such table, or one of another version. */
pawl_code pawl__module_load(const char *name, const char *what, const char *symbol, size_t size,
                            const void **table, pawl_error *error);

#endif
