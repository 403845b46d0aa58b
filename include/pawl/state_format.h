/* state_format.h - how a saga's state becomes the JSON of its row, and is read back (S26).
 *
 *     save:  the state -> JSON of its record -> write -> the row
 *     load:  the row -> read -> the record's upcaster -> the state
 *
 *     static const pawl_state_format sealed = {
 *         PAWL_STATE_FORMAT_HEAD, .read = unseal, .write = seal, .context = &keys};
 *     static const pawl_state_format dates_of_1 = {
 *         PAWL_STATE_FORMAT_HEAD, .below = 2, .times = PAWL_TIMES_MICROSOFT};
 *
 *     .format = &sealed, .older_formats = PAWL_FORMATS(&dates_of_1)
 *
 * Each row has the version of the record that it was written by (PAWL_RECORD_WITH, .version). A row
 * of today's version, or of an older one that no format in .older_formats is for, is read by
 * .format. Writing always uses .format. An older version that has a format of its own needs no
 * upcaster: without one it counts as today's record. With one, the upcaster gets the JSON that
 * `read` made, times in that format's form, and may leave them so or write RFC 3339.
 * A newer version is never read: what needs the saga waits (docs/evolution.md).
 *
 * Sagas alone have a format; snapshots of processes are made anew from their events.
 *
 * Threads: reader and writer run on every worker thread, at once for different sagas. A format
 *     and its context must outlive the endpoint, and not change.
 * Tests: tests/unit/engine/test_engine_format.c, tests/unit/record/test_record_times.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STATE_FORMAT_H
#define PAWL_STATE_FORMAT_H

#include "pawl/record_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The row that a reader or a writer is called for. Borrowed for the call. */
typedef struct pawl_state_about {
    const char  *saga; /* its name */
    pawl_saga_id id;
    int          version; /* of the record: of the row that is read; today's for a writer */
    void        *context; /* of the format */
} pawl_state_about;

/* Makes the record's JSON of the text in a row. `stored` is borrowed for the call; the text that `json` is set
 * to, which may be `stored` or a part of it, must live as long as the arena does: take it from there.
 *
 * PAWL_OK        `json` is an object as the record of that version has it.
 * PAWL_EVERSION  not of this program: messages for the saga wait for a program that reads it.
 * PAWL_EDECODE   it can never be read: a message for the saga becomes a dead letter at once.
 * others         the message fails, with retries. The codes of handlers' answers count as
 *                PAWL_ECONFIG, and so does PAWL_ENOMEM while the arena has memory.
 *
 * No failure changes the row, and none counts as "there is no saga" (S27). Set `error` to say why:
 * saga, version and id are put before it. It runs at each load, also for rows that this format
 * did not write but whose version it is for. */
typedef pawl_code pawl_state_read_fn(const pawl_state_about *about, pawl_text stored,
                                     pawl_arena *arena, pawl_text *json, pawl_error *error);

/* Makes the row's JSON of the record's JSON: one JSON object without NUL in its texts, of
 * at most PAWL_STATE_SIZE_MAX bytes, since the column's type is JSON. A server may give it back with
 * its members in another order and other spaces. Memory as for the reader.
 *
 * Any failure is one of the messages that changed the saga in this commit: each runs again by
 * itself, and the one whose state still cannot be written fails, with retries as its code has
 * them; PAWL_EVERSION counts as PAWL_ECONFIG. It may run more than once for one state, and the commit may fail after it. */
typedef pawl_code pawl_state_write_fn(const pawl_state_about *about, pawl_text json,
                                      pawl_arena *arena, pawl_text *stored, pawl_error *error);

/* Zero but for the fields that are set. */
typedef struct pawl_state_format {
    size_t     format_size; /* PAWL_STATE_FORMAT_HEAD */
    int        below; /* in .older_formats: rows of versions below this, and not of one before it */
    pawl_times times; /* of TIME members, read and written */
    bool       stores_defaults;   /* as that of the saga; either is enough (S25) */
    pawl_state_read_fn  *read;    /* NULL: the row has the record's JSON */
    pawl_state_write_fn *write;   /* NULL: likewise */
    void                *context; /* for both; borrowed */
} pawl_state_format;

/* First in the braces of an initialiser. */
#define PAWL_STATE_FORMAT_HEAD .format_size = sizeof(pawl_state_format)

#ifdef __cplusplus
}
#endif
#endif
