/* state_format.h - converts a saga's state to the JSON of its row and back, as to encrypt it (S26).
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
 * Each row stores the version of the record that wrote it (PAWL_RECORD_WITH, .version). Rows are always
 * written by .format. A row of the current version, or of an older one without a format in .older_formats, is read
 * by .format, too. An older version with a format needs no upcaster: its JSON is then decoded as
 * the current record. An upcaster, if there is one, gets the JSON that `read` made, with times in that
 * format's form, and may leave them so or write RFC 3339.
 * Rows of newer versions are never read: messages for the saga wait (docs/evolution.md).
 *
 * Only sagas have a format; snapshots of processes can be computed again from their events.
 *
 * Threads: reader and writer run on all worker threads, for different sagas in parallel. A format
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
    int          version; /* of the record: the row's for a reader, the current one for a writer */
    void        *context; /* of the format */
} pawl_state_about;

/* Reader: converts the text `stored` of a row to the record's JSON. `*json` must be in the arena, or `stored` or a
 * part of it. Called at each load, also for rows of the format's versions that another format wrote.
 *
 * PAWL_OK        `json` is an object as the record of that version has it.
 * PAWL_EVERSION  this program cannot read it: messages for the saga wait for a program that can.
 * PAWL_EDECODE   no program can read it: a message for the saga becomes a dead letter at once.
 * others         the message fails, with retries. Codes that only handlers return (PAWL_RETRY ...) count as
 *                PAWL_ECONFIG, and so does PAWL_ENOMEM while the arena has memory.
 *
 * A failure leaves the row unchanged, and the saga counts as existing (S27). Set `error` to the reason;
 * saga, version and id are put before it. */
typedef pawl_code pawl_state_read_fn(const pawl_state_about *about, pawl_text stored,
                                     pawl_arena *arena, pawl_text *json, pawl_error *error);

/* Writer: converts the record's JSON to the row's. The column has the type JSON, so the result must be one JSON object
 * without NUL in its texts, of at most PAWL_STATE_SIZE_MAX bytes. A server may return it with its members in
 * another order and other white space. Memory as for the reader.
 *
 * After a failure the messages that changed the saga in this commit run again one by one; those whose state still
 * cannot be written fail, with the retries of the code (PAWL_EVERSION counts as PAWL_ECONFIG). A writer may run
 * more than once for one state, and the commit may fail after it. */
typedef pawl_code pawl_state_write_fn(const pawl_state_about *about, pawl_text json,
                                      pawl_arena *arena, pawl_text *stored, pawl_error *error);

/* A format; members that are left out are zero. */
typedef struct pawl_state_format {
    size_t     format_size; /* PAWL_STATE_FORMAT_HEAD */
    int        below; /* in .older_formats: reads versions from the `below` before it up to this */
    pawl_times times; /* of TIME members, read and written */
    bool       stores_defaults;   /* as pawl_saga.stores_defaults; either is enough (S25) */
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
