/* test_command_defaults.c - each default that a page of help shows is the value that the verb gets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The table of verbs; the other files of the command are linked as they are. */
int command_main(int argc, char **argv);
#define main command_main
#include "cli/main.c"
#include "support/tests.h"
#undef main

#define FIELDS_SIZE 65536 /* more than the struct of any verb */
#define UNTOUCHED 0x5A

/* The default in the help's line of an option, "30s" of "--deadline DURATION  ...; default 30s"; empty: it
 * shows none. Lines of actions and of --json stand elsewhere. */
static void shown_default(const char *page, const char *option, char *text, size_t size)
{
    const char *line = strstr(page, test_text("\n  --%s ", option));
    assert_non_null(line);
    size_t      line_size = strcspn(line + 1, "\n") + 1;
    const char *at        = strstr(line, "default ");
    text[0]               = '\0';
    if (at != NULL && at < line + line_size)
        snprintf(text, size, "%.*s", (int)strcspn(at + 8, "\n"), at + 8);
}

/* The value in the field as it would be given; empty: parsing left the field as it was. All bytes of a text's field
 * are compared: the address of a text may begin with the byte UNTOUCHED. */
static void parsed_default(const pawl__option *option, const char *fields, char *text, size_t size)
{
    const char *field = fields + option->offset;
    int64_t     number;
    const char *word, *untouched;
    memcpy(&number, field, sizeof number);
    memcpy(&word, field, sizeof word);
    memset(&untouched, UNTOUCHED, sizeof untouched);
    text[0] = '\0';
    if (option->kind == PAWL__OPTION_YES_NO && *field != UNTOUCHED)
        snprintf(text, size, "%s", *field != 0 ? "yes" : "no");
    if (option->kind == PAWL__OPTION_TEXT && memcmp(&word, &untouched, sizeof word) != 0)
        snprintf(text, size, "%s", word);
    if ((option->kind == PAWL__OPTION_COUNT || option->kind == PAWL__OPTION_DURATION) &&
        *field != UNTOUCHED)
        (void)pawl__option_text(option, number, text, size);
}

static void check_option(const pawl__verb *verb, const pawl__option *option, const char *page,
                         const char *fields)
{
    char shown[200], parsed[200];
    shown_default(page, option->name, shown, sizeof shown);
    parsed_default(option, fields, parsed, sizeof parsed);
    if (strstr(option->help, "default ") != NULL)
        fail_msg("pawl %s --%s: a default stands in the words of the help, not in the table",
                 verb->name, option->name);
    if (option->is_layered && option->kind != PAWL__OPTION_TEXT)
        assert_memory_equal(fields + option->offset, &(int64_t){-1}, sizeof(int64_t));
    else if (option->default_words != NULL)
        assert_string_equal(shown, option->default_words);
    else if (strcmp(shown, parsed) != 0 && !option->is_layered)
        fail_msg("pawl %s --%s: the help says default '%s', the verb gets '%s'", verb->name,
                 option->name, shown, parsed);
}

TEST(each_default_in_the_help_is_the_value_that_the_verb_gets)
{
    static char fields[FIELDS_SIZE];
    for (size_t i = 0; i < VERB_COUNT; i++) {
        pawl_error error = PAWL_ERROR_INIT;
        char      *page  = NULL;
        size_t     size  = 0;
        FILE      *out   = open_memstream(&page, &size);
        assert_non_null(out);
        pawl__help_print(&verbs[i], NULL, out);
        fclose(out);
        memset(fields, UNTOUCHED, sizeof fields);
        (void)pawl__options_parse(verbs[i].name, verbs[i].arguments, verbs[i].options, 0, NULL,
                                  fields, &error);
        for (const pawl__option *option = verbs[i].options; option->name != NULL; option++)
            check_option(&verbs[i], option, page, fields);
        free(page);
    }
}
