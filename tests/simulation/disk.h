/* disk.h - SQLite's files on a disk that loses what was not synced when the power is cut.
 *
 *     disk_begin -> { disk_cut_after -> (writes) -> disk_is_off -> (every connection is closed) -> disk_recover }*
 *
 * SQLite writes to real files through a VFS that remembers each write until the file is synced. The power goes
 * in the middle of an operation: from then on all of them fail. Behind the cut each write that was not synced is
 * there, lost, or there in part, whatever the others are.
 *
 * Threads: the program has one.
 * Tests: simulation_power
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_SIMULATION_DISK_H
#define PAWL_SIMULATION_DISK_H

#include <stdbool.h>
#include <stdint.h>

/* The URL of a new, empty database on this disk, which is SQLite's from now on. Valid until the next one. `is_lax`: a
 * defect is planted: commits are not synced. */
const char *disk_begin(bool is_lax);
/* Removes the files. */
void disk_end(void);
/* The power goes with the n-th write, sync, truncation or removal from now on; 0: it stays. */
void disk_cut_after(uint64_t operations);
bool disk_is_off(void);
/* The power is back. No connection may be open. */
void disk_recover(void);

#endif
