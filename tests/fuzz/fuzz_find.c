/* fuzz_find.c - conditions of `pawl find`, compared with a message of any content, and its cursor.
 *
 * Input: the cursor, the headers, then a condition in each line up to an empty one; the rest is the body.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz/fuzz.h"

#include "cli/message/find.h"

#define WORDS_MAX 8

static void check_cursor(const char *text, pawl_arena *arena)
{
    pawl__find_cursor cursor = {.place = PAWL__FIND_DEAD}, again = {.place = PAWL__FIND_DEAD};
    if (pawl__find_cursor_read(text, &cursor, NULL) != PAWL_OK)
        return;
    pawl_text written = pawl__find_cursor_text(&cursor, arena);
    FUZZ_CHECK(written.data != NULL);
    FUZZ_CHECK(pawl__find_cursor_read(written.data, &again, NULL) == PAWL_OK);
    FUZZ_CHECK(cursor.place == again.place && cursor.number == again.number);
}

static void check_match(const pawl__texts *words, const pawl_message *message)
{
    pawl__find_conditions conditions = {.count = 0};
    pawl_error            error      = PAWL_ERROR_INIT;
    if (pawl__find_read(words, &conditions, &error) == PAWL_OK) {
        pawl__find_verdict verdict = pawl__find_match(&conditions, message);
        FUZZ_CHECK(verdict == PAWL__FIND_NO || verdict == PAWL__FIND_YES ||
                   !fuzz_is_json(message->body));
    } else {
        FUZZ_CHECK(error.text[0] != '\0');
    }
    pawl__find_free(&conditions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input   in      = {data, size};
    pawl_arena  *arena   = fuzz_arena();
    const char  *cursor  = fuzz_string(fuzz_line(&in), arena);
    pawl_message message = {
        .id = PAWL_TEXT_INIT("m-1"), .type = PAWL_TEXT_INIT("Placed"), .headers = fuzz_line(&in)};
    pawl__texts words = {.count = 0};
    pawl_text   word  = fuzz_line(&in);
    for (; word.size > 0 && words.count < WORDS_MAX; word = fuzz_line(&in))
        words.items[words.count++] = fuzz_string(word, arena);
    message.body = fuzz_rest(&in);
    check_cursor(cursor, arena);
    check_match(&words, &message);
    pawl_arena_destroy(arena);
    return 0;
}
