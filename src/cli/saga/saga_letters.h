/* saga_letters.h - which dead letters are a saga's.
 *
 *     begin (by words) | of (a saga that was found) -> relation, letter by letter
 *
 * A letter does not name its saga, unless it is one of a timeout. By the program's tables the property that
 * finds the saga is read from the letter's body, which may well be one that does not decode; and a message of
 * the saga's conversation has the id of the message that began it as its correlation id.
 *
 * Threads: none; called from main.
 * Tests: tests/system/command_saga_letters.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_SAGA_LETTERS_H
#define PAWL_CLI_SAGA_LETTERS_H

#include "cli/saga/saga_find.h"

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
    PAWL__LETTER_UNREADABLE, /* of a type that the saga handles; its body has no value to find one by */
} pawl__letter_relation;

/* Of a saga that was found. */
pawl__saga_letters pawl__saga_letters_of(const pawl__saga_book *book, const pawl_saga_table *table,
                                         const pawl_saga_row *row, pawl_arena *arena);
/* Of TYPE/VALUE or TYPE/ID; the saga need not be there: its first message may be the letter.
 * PAWL_EINVAL: the program has no saga of the type. */
pawl_code pawl__saga_letters_begin(const pawl__saga_book *book, pawl_store *store, const char *word,
                                   pawl_arena *arena, pawl__saga_letters *of, pawl_error *error);
/* `*by`, for people: "its key order_id"; empty unless it is the saga's. */
pawl__letter_relation pawl__saga_letter_is(const pawl__saga_letters *of,
                                           const pawl_dead_row *letter, pawl_arena *arena,
                                           pawl_text *by);

#endif
