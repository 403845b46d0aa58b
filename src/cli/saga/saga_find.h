/* saga_find.h - finds a saga by the words of an operator: its type, and its correlation value or its id.
 *
 * Tests: tests/system/command_saga.sh, command_why.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_SAGA_FIND_H
#define PAWL_CLI_SAGA_FIND_H

#include "cli/cli.h"
#include "pawl/upgrade.h"

typedef struct pawl__saga_tables {
    const pawl_saga_table *const *items;
    size_t                        count;
} pawl__saga_tables;

/* Splits "TYPE/VALUE". The type may have slashes: it is the longest one of `known` (may be NULL) that the word begins
 * with, else the text before the first slash. False: the word has no slash, or nothing before or behind it. */
bool pawl__saga_split(const pawl__saga_tables *known, pawl_text word, pawl_text *type,
                      pawl_text *value);

/* "TYPE/ID": the saga as the source of rows in the outbox and of lines of history. */
pawl_text pawl__saga_source_of(pawl_text type, pawl_saga_id id, pawl_arena *arena);
/* The header of that name; empty: none. */
pawl_text pawl__must_header(pawl_text headers, const char *name, pawl_arena *arena);
/* The correlation value as text; empty: none. */
pawl_text pawl__saga_value(const pawl_value *value, pawl_arena *arena);
/* When the saga began, as its id says; 0 for an id that pawl did not make. */
pawl_time pawl__saga_begun(pawl_uuid id);
/* The preceding id, so that a scan that begins behind it begins with `id`. */
pawl_uuid pawl__id_before(pawl_uuid id);

/* Finds the saga of the table by its correlation or transitional value, or by its id. The row is PAWL_SAGA_MISSING if
 * there is none, also for a value that its column cannot have. */
pawl_code pawl__saga_find_in(pawl_store *store, const pawl_saga_table *table, pawl_text value,
                             pawl_arena *arena, pawl_saga_row *row, pawl_error *error);
/* The same in all tables of the type. `*table` is the one that has it, or NULL. */
pawl_code pawl__saga_find(pawl_store *store, const pawl__saga_tables *tables, pawl_text type,
                          pawl_text value, pawl_arena *arena, const pawl_saga_table **table,
                          pawl_saga_row *row, pawl_error *error);

/* Reads the keys of a page behind `after` (NULL: the first page), then loads these sagas, a row for each key: it is
 * missing if the saga ended in between. A table that does not exist has no sagas. */
pawl_code pawl__saga_page(pawl_store *store, const pawl_saga_table *table,
                          const pawl_scan_row *after, size_t count_max, pawl_arena *arena,
                          pawl_scan_rows *scanned, pawl_saga_row **rows, pawl_error *error);

/* The first saga of that name. All sagas of one name in an application have the same state. */
const pawl_saga *pawl__saga_of(const pawl_application *application, pawl_text type);
/* Is its correlation value a secret? NULL: no. */
bool pawl__saga_is_secret(const pawl_saga *saga);
/* The same of its transitional property. */
bool pawl__saga_hides_transitional(const pawl_saga *saga);

/* ---- For verbs that only name sagas: --app, --saga-prefix, --saga ---------- */

/* The saga tables of --app. Without it there are none, and sagas are shown by id. The caller sets the options alone. */
typedef struct pawl__saga_book {
    const char       *app, *prefix; /* --app and --saga-prefix, or NULL */
    pawl__loaded      loaded;
    pawl_upgrade     *upgrade;
    pawl__saga_tables tables;
} pawl__saga_book;

/* Close the book after a failure, too. */
pawl_code pawl__saga_book_open(pawl__saga_book *book, pawl_error *error);
void      pawl__saga_book_close(pawl__saga_book *book);

/* The model of the endpoint that has sagas of the type; NULL: none has, or there is no --app. */
const struct pawl__model *pawl__saga_model_of(const pawl__saga_book *book, pawl_text type);

/* Before the store is opened: is the word of --saga an id, TYPE/ID, or with tables TYPE/VALUE? NULL is
 * fine. */
pawl_code pawl__saga_word_check(const char *word, bool has_tables, pawl_error *error);
/* The id of such a word; the type is empty when it has none. PAWL_ENOTFOUND: no saga has the
 * value. */
pawl_code pawl__saga_word_find(const pawl__saga_book *book, pawl_store *store, const char *word,
                               pawl_arena *arena, pawl_text *type, pawl_saga_id *id,
                               pawl_error *error);

typedef struct pawl__saga_named {
    pawl_text    type;
    pawl_saga_id id;
    pawl_text name; /* "TYPE/VALUE"; unchanged if the saga ended, or has no value or a secret one */
} pawl__saga_named;

/* Names them all, with one load for each table. */
pawl_code pawl__saga_names(const pawl__saga_book *book, pawl_store *store, pawl__saga_named *items,
                           size_t count, pawl_arena *arena, pawl_error *error);

/* The saga whose dead letters are looked for. */
typedef struct pawl__saga_letters {
    const struct pawl__model *model; /* of the endpoint that has the saga */
    pawl_text                 type;
    pawl_text                 id;           /* zero uuid: no saga was found */
    pawl_text                 value, other; /* main and transitional value, or empty */
    pawl_text                 began;        /* id of the message that began it, or empty */
} pawl__saga_letters;

typedef enum pawl__letter_relation {
    PAWL__LETTER_FOREIGN,
    PAWL__LETTER_OWN,
    PAWL__LETTER_UNREADABLE, /* of a type that the saga handles, but its body has no correlation value */
} pawl__letter_relation;

/* Of a saga that was found. */
pawl__saga_letters pawl__saga_letters_of(const pawl__saga_book *book, const pawl_saga_table *table,
                                         const pawl_saga_row *row, pawl_arena *arena);
/* Of "TYPE/VALUE" or "TYPE/ID", also of a saga that does not exist: its first message may be the dead letter.
 * PAWL_EINVAL: the program has no saga of the type. */
pawl_code pawl__saga_letters_begin(const pawl__saga_book *book, pawl_store *store, const char *word,
                                   pawl_arena *arena, pawl__saga_letters *of, pawl_error *error);
/* The command that finds all messages with the saga's value, wherever they are: "pawl find body:order_id=b-9". Empty:
 * the program has no such saga, or the saga has no value. */
pawl_text pawl__saga_letters_command(const pawl__saga_letters *of, const pawl__store_fields *at,
                                     pawl_arena *arena);
/* Is the dead letter the saga's? `*by` says how that is known, for people: "its key order_id"; else it is empty. */
pawl__letter_relation pawl__saga_letter_is(const pawl__saga_letters *of,
                                           const pawl_dead_row *letter, pawl_arena *arena,
                                           pawl_text *by);

#endif
