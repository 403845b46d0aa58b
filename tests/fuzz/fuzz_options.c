/* fuzz_options.c - the words behind each verb of the command.
 *
 * Input: a byte that chooses the verb; then a word in each line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz/fuzz.h"

#include "cli/cli.h"

#include <string.h>

#define FIELDS_SIZE 65536 /* more than the struct of any verb */
#define WORDS_MAX 80

/* An error that names what was given is a line that a terminal can show. */
static void check_error(pawl_code code, const pawl_error *error)
{
    FUZZ_CHECK(code == PAWL_OK || error->text[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static union {
        char    bytes[FIELDS_SIZE];
        int64_t align;
    } fields;
    fuzz_input        in    = {data, size};
    pawl_error        error = PAWL_ERROR_INIT;
    pawl_arena       *arena = fuzz_arena();
    size_t            verb_count;
    const pawl__verb *verbs = pawl__verbs(&verb_count);
    const pawl__verb *verb  = &verbs[fuzz_below(&in, (unsigned)verb_count)];
    char             *words[WORDS_MAX + 1];
    int               count = 0;
    int64_t           number;
    while (in.left > 0 && count < WORDS_MAX)
        words[count++] = fuzz_string(fuzz_line(&in), arena);
    words[count] = NULL;
    memset(&fields, 0, sizeof fields);
    check_error(pawl__options_parse(verb->name, verb->arguments, verb->options, count, words,
                                    &fields, &error),
                &error);
    for (int i = 0; i < count; i++) {
        check_error(pawl__duration_parse(words[i], &number, &error), &error);
        (void)pawl__number_parse(words[i], &number);
        (void)pawl__verb_refuse(words[i], &error);
    }
    pawl_arena_destroy(arena);
    return 0;
}
