/* program.h - the operating system's process as others see it, and what its handles on one file share: for
 * stores whose data is a file that no server guards.
 *
 * A process has a number: the offset of one byte in the file PATH-pawl, which
 * it keeps locked for as long as it lives. The operating system frees the lock
 * with the process, so that "is process N alive" is one question to the kernel
 * and needs no heartbeat.
 *
 * All handles of a process on one file (device and inode) share one object.
 * It has the claim tables: which queue row is in whose hands.
 *
 * Threads: every function may be called from any thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_PROGRAM_PROGRAM_H
#define PAWL_STORE_PROGRAM_PROGRAM_H

#include "pawl/base.h"

#include <sys/types.h>

typedef struct pawl__program pawl__program;

/* Claims and handles of one set of tables (one system prefix) in the file. */
typedef struct pawl__claim_table pawl__claim_table;

/* Finds or makes the object of the file and counts the caller in. */
pawl_code pawl__program_join(const char *path, dev_t device, ino_t inode, pawl__program **program,
                             pawl_error *error);
void      pawl__program_leave(pawl__program *program); /* accepts NULL */
int64_t   pawl__program_number(const pawl__program *program);
/* Comes before questions about processes. A file that took the place of the program's is the program's from now on. `program`
 * may be NULL. */
pawl_code pawl__program_follow_file(pawl__program *program, const char *path, pawl_error *error);
/* Whether the process of that number lives. `program` may be NULL: looks
 * through the file beside `path`. */
pawl_code pawl__program_alive(pawl__program *program, const char *path, int64_t number,
                              bool *is_alive, pawl_error *error);

/* A handle's file, from open to close. In a child the entries of its parent stay: SQLite takes
 * no locks of its own on a file that was open at the fork, since it knows of the parent's. */
typedef struct pawl__program_file pawl__program_file;

/* NULL: memory. */
pawl__program_file *pawl__program_file_enter(dev_t device, ino_t inode);
void                pawl__program_file_leave(pawl__program_file *file); /* accepts NULL */
/* The process that had the file open when this one was forked; 0: none. */
pid_t pawl__program_file_inherited(dev_t device, ino_t inode);

/* The claim table of the prefix; lives as long as the process's object. NULL: memory. */
pawl__claim_table *pawl__program_claim_table(pawl__program *program, const char *prefix);

/* The handle is one of those that claim from the queue. PAWL_ENOMEM. */
pawl_code pawl__claim_table_queue_enter(pawl__claim_table *table, pawl_text name,
                                        const void *owner);
/* The handle leaves a queue, of which it was the last, or not; false: it is at none. The name lives as
 * long as the table. */
bool pawl__claim_table_queue_leave(pawl__claim_table *table, const void *owner, pawl_text *name,
                                   bool *is_last);

/* From now on the handle is the worker's. PAWL_ENOMEM. */
pawl_code pawl__claim_table_attach(pawl__claim_table *table, pawl_uuid worker, const void *owner);
void      pawl__claim_table_detach(pawl__claim_table *table, const void *owner);
/* Another handle that was the worker's loses its claims, and its queues, which become the caller's. */
void pawl__claim_table_take_over(pawl__claim_table *table, pawl_uuid worker, const void *owner);

/* Takes the row for `owner` under a lease's epoch; a row that it has already is
 * moved to that epoch. PAWL_EGONE when another owner has it; PAWL_ENOMEM. */
pawl_code pawl__claim_table_claim(pawl__claim_table *table, int64_t seq, const void *owner,
                                  int64_t epoch);
/* Nobody has it, this owner included. */
bool pawl__claim_table_is_free(pawl__claim_table *table, int64_t seq);
/* Of the owner's claim; 0: it has none. */
int64_t pawl__claim_table_epoch(pawl__claim_table *table, int64_t seq, const void *owner);
void    pawl__claim_table_end(pawl__claim_table *table, int64_t seq, const void *owner);
void    pawl__claim_table_end_all(pawl__claim_table *table, const void *owner);
/* Moves on whenever a claim ends: rows that were read before that may be out of date. */
uint64_t pawl__claim_table_ended_count(pawl__claim_table *table);

/* ---- A claim table: claims.c -------------------------------------------------------- *
 *
 * From queue row to owner: open addressing, so that a claim costs no allocation of its own. Guarded by whoever owns
 * the table. */

typedef struct pawl__claim_row {
    int64_t     seq; /* 0: empty, as rows count from 1 */
    const void *owner;
    int64_t     epoch;
} pawl__claim_row;

typedef struct pawl__claims {
    pawl__claim_row *rows;
    size_t           capacity; /* a power of two, or 0 */
    size_t           count;
} pawl__claims;

/* NULL when nobody has it. Good until the next change of the table. */
pawl__claim_row *pawl__claims_find(const pawl__claims *claims, int64_t seq);
/* The seq must not be there. PAWL_ENOMEM. */
pawl_code pawl__claims_add(pawl__claims *claims, int64_t seq, const void *owner, int64_t epoch);
void      pawl__claims_remove(pawl__claims *claims, int64_t seq);
void      pawl__claims_remove_owner(pawl__claims *claims, const void *owner);
void      pawl__claims_free(pawl__claims *claims);

#endif
