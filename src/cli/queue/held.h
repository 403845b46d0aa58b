/* held.h - keys of an ordered queue that are held back: by which message, since when, and how many wait behind it.
 * The rows that wait say it in their texts (engine/order.h).
 *
 *     pawl__held_read -> { pawl__held_of_holder | pawl__held_of_key }*
 *
 * Threads: none; called from main.
 * Tests: tests/system/command_ordered.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_HELD_H
#define PAWL_CLI_HELD_H

#include "cli/cli.h"

typedef struct pawl__held_key {
    pawl_text key;
    pawl_text holder;   /* id of the message that holds the key back; empty: nobody said which */
    int64_t   behind;   /* messages that wait */
    bool      is_there; /* is the holder in the queue still? */
    pawl_time since;    /* its first failure, or since when it waits for its saga; 0: not known */
    int32_t   attempts;
    pawl_time due;
    pawl_text error; /* of the holder */
} pawl__held_key;

typedef struct pawl__held {
    pawl__held_key *items; /* the one for which most messages wait first */
    size_t          count, capacity;
    bool            is_cut; /* more messages are later than were read: counts are at least that */
} pawl__held;

/* Is it the text of a message that waits? Then it has a key, and the holder's id or none. */
bool pawl__held_split(pawl_text error, pawl_text *holder, pawl_text *key);
/* Reads the first messages that are due later. Empty for a queue that is not ordered. */
pawl_code pawl__held_read(pawl_store *store, pawl_text queue, pawl_time now, pawl_arena *arena,
                          pawl__held *held, pawl_error *error);
/* NULL: none. */
const pawl__held_key *pawl__held_of_key(const pawl__held *held, pawl_text key);
const pawl__held_key *pawl__held_of_holder(const pawl__held *held, pawl_text id);
/* "3 messages of its key 'K' wait behind it". Data NULL without memory. */
pawl_text pawl__held_words(const pawl__held *held, const pawl__held_key *key, pawl_arena *arena);

#endif
