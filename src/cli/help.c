/* help.c - `pawl help`: pages made from the tables that parsing uses.
 *
 * main.c calls it for --help, and it reads main.c's table of verbs: help is one of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/cli.h"

#include <string.h>

typedef struct verb_fields {
    const char *verb;
} verb_fields;

const pawl__argument pawl__help_verb_arguments[] = {
    {.name = "VERB", .offset = offsetof(verb_fields, verb), .is_optional = true},
    {.name = NULL},
};
const pawl__option pawl__help_verb_options[] = {{.name = NULL}};

#define COLUMN_WIDTH 24
#define LINE_WIDTH 72

static void print_row(const char *left, const char *right, FILE *out)
{
    fprintf(out, "  %-*s  %s\n", COLUMN_WIDTH, left, right);
}

static void print_arguments(const pawl__verb *verb, FILE *out)
{
    for (const pawl__argument *argument = verb->arguments; argument->name != NULL; argument++) {
        fputs(argument->is_optional ? " [" : " ", out);
        if (argument->choices == NULL)
            fputs(argument->name, out);
        for (size_t i = 0; argument->choices != NULL && argument->choices[i] != NULL; i++)
            fprintf(out, "%s%s", i > 0 ? "|" : "", argument->choices[i]);
        fprintf(out, "%s%s", argument->is_list ? " ..." : "", argument->is_optional ? "]" : "");
    }
}

static const char *value_of(const pawl__option *option)
{
    if (option->kind == PAWL__OPTION_YES_NO)
        return "yes|no";
    return option->kind == PAWL__OPTION_FLAG ? "" : option->value;
}

static const char *limits_of(const pawl__option *option, char *text, size_t size)
{
    char low[40], high[40], is[40];
    text[0] = '\0';
    if (option->has_default)
        snprintf(text, size, "; %s to %s, default %s",
                 pawl__option_text(option, option->min, low, sizeof low),
                 pawl__option_text(option, option->max, high, sizeof high),
                 pawl__option_text(option, option->value_default, is, sizeof is));
    return text;
}

static void print_option(const pawl__verb *verb, const pawl__option *option, FILE *out)
{
    char        left[100], actions[100], limits[100], right[300];
    const char *value = value_of(option);
    snprintf(left, sizeof left, "--%s%s%s%s", option->name, value[0] != '\0' ? " " : "", value,
             option->kind == PAWL__OPTION_LIST ? " ..." : "");
    pawl__actions_text(verb->arguments, option->actions, actions, sizeof actions);
    snprintf(right, sizeof right, "%s%s%s%s", actions, actions[0] != '\0' ? ": " : "", option->help,
             limits_of(option, limits, sizeof limits));
    print_row(left, right, out);
}

/* Prints options by name, in whatever order the verb lists them. */
static void print_options(const pawl__verb *verb, FILE *out)
{
    const pawl__option *sorted[PAWL__OPTIONS_MAX];
    size_t              count = 0;
    for (const pawl__option *option = verb->options; option->name != NULL; option++) {
        size_t at = count++;
        for (; at > 0 && strcmp(sorted[at - 1]->name, option->name) > 0; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = option;
    }
    for (size_t i = 0; i < count; i++)
        print_option(verb, sorted[i], out);
}

/* Prints the keys of one level as a line: "list      id state ...", folded where it is long. */
static void print_keys(const char *what, const pawl__column *columns, pawl__level level, FILE *out)
{
    const char *left                 = what;
    char        line[LINE_WIDTH + 1] = "";
    for (const pawl__column *column = columns; column->key != NULL; column++) {
        if (column->level != level)
            continue;
        if (strlen(line) + strlen(column->key) + 1 > LINE_WIDTH) {
            print_row(left, line, out);
            line[0] = '\0';
            left    = "";
        }
        size_t used = strlen(line);
        snprintf(line + used, sizeof line - used, "%s%s", used > 0 ? " " : "", column->key);
    }
    if (line[0] != '\0')
        print_row(left, line, out);
}

static void print_report(const pawl__report *report, FILE *out)
{
    print_keys(report->what, report->columns, PAWL__LEVEL_LIST, out);
    print_keys("show adds", report->columns, PAWL__LEVEL_SHOW, out);
    print_keys("show --reveal adds", report->columns, PAWL__LEVEL_REVEAL, out);
}

void pawl__help_print(const pawl__verb *verb, FILE *out)
{
    bool has_options = verb->options[0].name != NULL;
    fprintf(out, "usage: pawl %s", verb->name);
    print_arguments(verb, out);
    fprintf(out, "%s\n\n%s\n", has_options ? " [OPTIONS]" : "", verb->help);
    if (has_options)
        fputs("\noptions:\n", out);
    print_options(verb, out);
    if (verb->reports != NULL)
        fputs("\nkeys of --json, null for what a row does not have:\n", out);
    for (const pawl__report *report = verb->reports; report != NULL && report->what != NULL;
         report++)
        print_report(report, out);
}

static void print_overview(FILE *out)
{
    size_t            count;
    const pawl__verb *verbs = pawl__verbs(&count);
    fputs("usage: pawl [--load DRIVER.so ...] VERB [ARGUMENTS] [OPTIONS]\n\nverbs:\n", out);
    for (size_t i = 0; i < count; i++)
        print_row(verbs[i].name, verbs[i].help, out);
    fputs(
        "\n`pawl help VERB` says more. The store is --store URL, else the variable PAWL_STORE.\n"
        "--load adds a store driver or a sink of your own, before the verb. Drivers are looked for\n"
        "beside the library, then in the folders of the variable PAWL_DRIVER_PATH.\n"
        "\nexit codes:\n",
        out);
    print_row("0", "done", out);
    print_row("1", "a check said no", out);
    print_row("2", "wrong arguments, refused configuration or input", out);
    print_row("3", "the store cannot be reached or may not be used", out);
    print_row("4", "the schema is missing, older or newer", out);
    print_row("5", "stopped part-way; what was committed stays", out);
    print_row("6", "not found, or a conflict", out);
    print_row("70", "a bug in pawl", out);
}

int pawl__help_verb(const pawl__verb *verb, int count, char **words)
{
    verb_fields fields = {NULL};
    pawl_error  error  = PAWL_ERROR_INIT;
    pawl_code   code = pawl__options_parse(verb->name, verb->arguments, verb->options, count, words,
                                           &fields, &error);
    if (code != PAWL_OK)
        return pawl__fail(code, &error);
    if (fields.verb == NULL) {
        print_overview(stdout);
        return 0;
    }
    const pawl__verb *about = pawl__verb_find(fields.verb);
    if (about == NULL)
        return pawl__fail(pawl__verb_refuse(fields.verb, &error), &error);
    pawl__help_print(about, stdout);
    return 0;
}
