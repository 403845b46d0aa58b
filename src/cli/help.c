/* help.c - `pawl help`: pages made from the tables that parsing uses, for a terminal or for man.
 *
 * main.c calls it for --help, and it reads main.c's table of verbs, since help is one of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/cli.h"

#include <ctype.h>
#include <string.h>

typedef struct verb_fields {
    const char *verb, *action;
    bool        is_man;
} verb_fields;

const pawl__argument pawl__help_verb_arguments[] = {
    PAWL__ARGUMENT(verb_fields, "VERB", verb, "one of those that pawl help lists",
                   .is_optional = true),
    PAWL__ARGUMENT(verb_fields, "ACTION", action,
                   "one of those that pawl help VERB lists: its options alone",
                   .is_optional = true),
    {.name = NULL},
};
#define OPTION(name, kind, member, ...) PAWL__OPTION(verb_fields, name, kind, member, __VA_ARGS__)
const pawl__option pawl__help_verb_options[] = {
    OPTION("man", FLAG, is_man, NULL, 0,
           "as the source of a manual page: pawl(1), or pawl-VERB(1)"),
    {.name = NULL},
};
const pawl__report pawl__help_verb_reports[] = {{.what = NULL}};

/* ---- Pages ------------------------------------------------------------------- */

#define COLUMN_WIDTH 24
#define LINE_WIDTH 72

/* Where a page goes, and as what: lines for a terminal, or requests of roff's man macros. */
typedef struct help_page {
    FILE    *out;
    bool     is_man;
    unsigned actions; /* a bit for the action that the page is about; 0: all */
} help_page;

/* Writes "-" as "\-", so that options can be copied from the page. A "." or "'" at the start of a line is no request
 * to roff, since a line of text begins with "\&". */
static void print_roff(const help_page *page, const char *text)
{
    for (; *text != '\0'; text++)
        fputs(*text == '\\'  ? "\\e"
              : *text == '-' ? "\\-"
                             : (const char[]){*text, '\0'},
              page->out);
}

static void print_text(const help_page *page, const char *text)
{
    if (!page->is_man) {
        fprintf(page->out, "%s\n", text);
        return;
    }
    fputs("\\&", page->out);
    print_roff(page, text);
    fputc('\n', page->out);
}

static void print_heading(const help_page *page, const char *heading)
{
    if (!page->is_man) {
        fprintf(page->out, "\n%s:\n", heading);
        return;
    }
    fputs(".SH ", page->out);
    for (; *heading != '\0'; heading++)
        fputc(toupper((unsigned char)*heading), page->out);
    fputc('\n', page->out);
}

static void print_row(const help_page *page, const char *left, const char *right)
{
    if (!page->is_man) {
        fprintf(page->out, "  %-*s  %s\n", COLUMN_WIDTH, left, right);
        return;
    }
    fputs(".TP\n.B ", page->out);
    print_roff(page, left[0] != '\0' ? left : " ");
    fputc('\n', page->out);
    print_text(page, right);
}

/* A row "list      id state ...", folded if it is long; man folds by itself. */
typedef struct word_row {
    const help_page *page;
    const char      *left;
    char             line[2048];
} word_row;

static void end_word_row(word_row *row)
{
    if (row->line[0] != '\0')
        print_row(row->page, row->left, row->line);
    row->line[0] = '\0';
    row->left    = "";
}

static void add_word(word_row *row, const char *word, int size)
{
    size_t width = row->page->is_man ? sizeof row->line - 1 : LINE_WIDTH, used = strlen(row->line);
    if (used + (size_t)size + 1 > width) {
        end_word_row(row);
        used = 0;
    }
    snprintf(row->line + used, sizeof row->line - used, "%s%.*s", used > 0 ? " " : "", size, word);
}

static void print_words(const help_page *page, const char *what, const char *words)
{
    word_row row = {.page = page, .left = what};
    while (*words != '\0') {
        size_t size = strcspn(words, " ");
        add_word(&row, words, (int)size);
        words += size + (words[size] != '\0');
    }
    end_word_row(&row);
}

static void append_argument(const pawl__argument *argument, char *text, size_t size)
{
    pawl__append(text, size, argument->is_optional ? " [" : " ");
    if (argument->choices == NULL)
        pawl__append(text, size, argument->name);
    for (size_t i = 0; argument->choices != NULL && argument->choices[i] != NULL; i++) {
        pawl__append(text, size, i > 0 ? "|" : "");
        pawl__append(text, size, argument->choices[i]);
    }
    pawl__append(text, size, argument->is_list ? " ..." : "");
    pawl__append(text, size, argument->is_optional ? "]" : "");
}

/* "move QUEUE TO" */
static void append_choice(const pawl__argument *argument, size_t i, char *text, size_t size)
{
    pawl__append(text, size, argument->choices[i]);
    pawl__append(text, size, argument->lines[i].words[0] != '\0' ? " " : "");
    pawl__append(text, size, argument->lines[i].words);
}

/* The only action that the page is about, with the words behind it: "move QUEUE TO". */
static void append_action(const help_page *page, const pawl__argument *argument, char *text,
                          size_t size)
{
    for (size_t i = 0; argument->choices[i] != NULL; i++)
        if ((page->actions & 1U << i) != 0) {
            pawl__append(text, size, " ");
            append_choice(argument, i, text, size);
        }
}

/* "pawl schema apply|drop|print|verify [OPTIONS]" */
static void usage_of(const help_page *page, const pawl__verb *verb, char *text, size_t size)
{
    snprintf(text, size, "pawl %s", verb->name);
    if (page->actions != 0)
        append_action(page, verb->arguments, text, size);
    for (const pawl__argument *argument = verb->arguments;
         page->actions == 0 && argument->name != NULL; argument++)
        append_argument(argument, text, size);
    pawl__append(text, size, verb->options[0].name != NULL ? " [OPTIONS]" : "");
}

/* ---- Arguments ---------------------------------------------------------------- */

/* "actions:", "workloads:" */
static void print_choices(const help_page *page, const pawl__argument *argument)
{
    char heading[40], left[100];
    snprintf(heading, sizeof heading, "%ss", argument->name);
    for (char *at = heading; *at != '\0'; at++)
        *at = (char)tolower((unsigned char)*at);
    print_heading(page, heading);
    for (size_t i = 0; argument->choices[i] != NULL; i++) {
        left[0] = '\0';
        append_choice(argument, i, left, sizeof left);
        print_row(page, left, argument->lines[i].help);
    }
}

/* Does the usage contain the name of the argument, or of "TYPE/VALUE|MESSAGE-ID" the first part? */
static bool names(const char *usage, const char *word)
{
    size_t size = strcspn(word, "|");
    for (const char *at = strchr(usage, ' '); at != NULL; at = strchr(at + 1, ' ')) {
        const char *head = at + 1 + (at[1] == '[');
        if (strncmp(head, word, size) == 0 && !isalnum((unsigned char)head[size]))
            return true;
    }
    return false;
}

/* Explains the arguments; on the page of one action only those in its usage. */
static void print_arguments(const help_page *page, const pawl__verb *verb, const char *usage)
{
    bool has_heading = false;
    for (const pawl__argument *argument = verb->arguments; argument->name != NULL; argument++) {
        if (argument->lines != NULL && page->actions == 0)
            print_choices(page, argument);
        if (argument->help == NULL || (page->actions != 0 && !names(usage, argument->name)))
            continue;
        if (!has_heading)
            print_heading(page, "words");
        has_heading = true;
        print_words(page, argument->name, argument->help);
    }
}

/* ---- Options ------------------------------------------------------------------ */

static const char *value_of(const pawl__option *option)
{
    if (option->kind == PAWL__OPTION_YES_NO)
        return "yes|no";
    return option->kind == PAWL__OPTION_FLAG ? "" : option->value;
}

/* The least value that is not written as "none". */
static int64_t least_of(const pawl__option *option)
{
    if (!option->has_none || option->min != 0)
        return option->min;
    return option->kind == PAWL__OPTION_DURATION ? PAWL_MILLISECONDS(1) : 1;
}

/* "; 1s to 1h, default 1m", "; none or 1 to 3, default none", "; default text" */
static const char *limits_of(const pawl__option *option, char *text, size_t size)
{
    char        low[40], high[40], is[40];
    const char *value = option->text_default != NULL ? option->text_default : option->default_words;
    text[0]           = '\0';
    if (option->has_default)
        value = pawl__option_text(option, option->value_default, is, sizeof is);
    if (option->has_default && option->max != 0)
        snprintf(text, size, "; %s%s to %s, default %s", option->has_none ? "none or " : "",
                 pawl__option_text(option, least_of(option), low, sizeof low),
                 pawl__option_text(option, option->max, high, sizeof high), value);
    else if (value != NULL)
        snprintf(text, size, "; default %s", value);
    return text;
}

static void print_option(const help_page *page, const pawl__verb *verb, const pawl__option *option)
{
    char        left[100], actions[100], limits[140], right[400];
    const char *value = value_of(option);
    snprintf(left, sizeof left, "--%s%s%s%s", option->name, value[0] != '\0' ? " " : "", value,
             option->kind == PAWL__OPTION_LIST ? " ..." : "");
    pawl__actions_text(verb->arguments, page->actions == 0 ? option->actions : 0, actions,
                       sizeof actions);
    snprintf(right, sizeof right, "%s%s%s%s", actions, actions[0] != '\0' ? ": " : "", option->help,
             limits_of(option, limits, sizeof limits));
    print_row(page, left, right);
}

static void print_options(const help_page *page, const pawl__verb *verb)
{
    const pawl__option *sorted[PAWL__OPTIONS_MAX];
    size_t              count       = pawl__options_sorted(verb->options, sorted);
    bool                has_heading = false;
    for (size_t i = 0; i < count; i++) {
        unsigned actions = sorted[i]->actions;
        if (page->actions != 0 && actions != 0 && (actions & page->actions) == 0)
            continue;
        if (!has_heading)
            print_heading(page, "options");
        has_heading = true;
        print_option(page, verb, sorted[i]);
    }
}

/* ---- Keys of --json -------------------------------------------------------------- */

/* The keys of the columns of one level. */
static void print_columns(const help_page *page, const char *what, const pawl__column *columns,
                          pawl__level level)
{
    word_row row = {.page = page, .left = what};
    for (const pawl__column *column = columns; column->key != NULL; column++)
        if (column->level == level)
            add_word(&row, column->key, (int)strlen(column->key));
    end_word_row(&row);
}

static void print_report(const help_page *page, const pawl__report *report)
{
    if (report->columns == NULL) {
        print_words(page, report->what, report->keys);
        return;
    }
    print_columns(page, report->what, report->columns, PAWL__LEVEL_LIST);
    print_columns(page, "show adds", report->columns, PAWL__LEVEL_SHOW);
    print_columns(page, "show --reveal adds", report->columns, PAWL__LEVEL_REVEAL);
}

static void print_reports(const help_page *page, const pawl__report *reports)
{
    if (reports[0].what == NULL)
        return;
    print_heading(page, "keys of --json, null for what a row does not have");
    for (const pawl__report *report = reports; report->what != NULL; report++)
        print_report(page, report);
}

/* ---- Pages of the verbs and of the command ---------------------------------------- */

static void print_exit_codes(const help_page *page)
{
    print_heading(page, page->is_man ? "exit status" : "exit codes");
    print_row(page, "0", "done");
    print_row(page, "1", "a check said no");
    print_row(page, "2", "wrong arguments, refused configuration or input");
    print_row(page, "3", "the store cannot be reached or may not be used");
    print_row(page, "4", "the schema is missing, older or newer");
    print_row(page, "5", "stopped part-way; what was committed stays");
    print_row(page, "6", "not found, or a conflict");
    print_row(page, "70", "a bug in pawl");
}

/* The beginning of a page: its title, what it is about and how it is called. `verb` is NULL for
 * the command as a whole. */
static void print_beginning(const help_page *page, const char *verb, const char *about,
                            const char *usage)
{
    const char *dash = verb != NULL ? "-" : "";
    char        name[100];
    if (!page->is_man) {
        fprintf(page->out, "usage: %s\n", usage);
        return;
    }
    snprintf(name, sizeof name, "pawl%s%s", dash, verb != NULL ? verb : "");
    fprintf(page->out, ".TH %s 1 \"\" \"pawl %s\" pawl\n", name, PAWL_VERSION);
    print_heading(page, "name");
    print_roff(page, name);
    fputs(" \\- ", page->out);
    print_roff(page, about);
    fputc('\n', page->out);
    print_heading(page, "synopsis");
    print_text(page, usage);
}

/* The line of the action, or of the verb. */
static const char *about_of(const help_page *page, const pawl__verb *verb)
{
    for (size_t i = 0; page->actions != 0 && verb->arguments[0].choices[i] != NULL; i++)
        if ((page->actions & 1U << i) != 0)
            return verb->arguments[0].lines[i].help;
    return verb->help;
}

static void print_verb(const help_page *page, const pawl__verb *verb)
{
    char usage[500];
    usage_of(page, verb, usage, sizeof usage);
    print_beginning(page, verb->name, verb->help, usage);
    if (!page->is_man)
        fprintf(page->out, "\n%s\n", about_of(page, verb));
    print_arguments(page, verb, usage);
    print_options(page, verb);
    if (page->actions == 0) /* one report may be of several actions: the verb's page has them all */
        print_reports(page, verb->reports);
    if (!page->is_man)
        return;
    print_exit_codes(page);
    print_heading(page, "see also");
    fputs(".BR pawl (1)\n", page->out);
}

static void print_verbs(const help_page *page)
{
    size_t            count;
    const pawl__verb *verbs = pawl__verbs(&count);
    char              name[100];
    print_heading(page, "verbs");
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%s%s", verbs[i].name, page->is_man ? " - pawl-" : "");
        pawl__append(name, sizeof name, page->is_man ? verbs[i].name : "");
        pawl__append(name, sizeof name, page->is_man ? "(1)" : "");
        print_row(page, name, verbs[i].help);
    }
}

static void print_troubles(const help_page *page)
{
    print_heading(page, "when something is wrong, or stands still");
    print_row(page, "pawl doctor", "what is wrong with the store, and the command that fixes it");
    print_row(page, "pawl why ID",
              "what a message, timeout, saga (with --app), outbox row, projection ... waits for");
    print_row(page, "pawl find customer_id=4711", "the messages that have this in them");
    print_row(page, "pawl stats --watch", "what happens just now; what is stuck comes first");
    print_row(page, "pawl dead list", "dead letters; pawl dead show ID has each run");
    print_row(page, "pawl events list", "what happened; what operators did, when and why");
}

static const char *const overview[] = {
    "`pawl help VERB` says more, `pawl help VERB ACTION` of one action. The store is --store URL, else the variable PAWL_STORE.",
    "--load adds a store driver or transports of your own, before the verb. Drivers are looked for",
    "beside the library, then in the folders of the variable PAWL_DRIVER_PATH.",
};

static void print_overview(const help_page *page)
{
    print_beginning(page, NULL, "durable message workflows on the database you already have",
                    "pawl [--load DRIVER.so ...] VERB [ARGUMENTS] [OPTIONS]");
    print_verbs(page);
    print_troubles(page);
    if (page->is_man)
        print_heading(page, "environment");
    else
        fputc('\n', page->out);
    for (size_t i = 0; i < sizeof overview / sizeof overview[0]; i++)
        print_text(page, overview[i]);
    print_exit_codes(page);
}

/* The bit of the action among the verb's. */
static pawl_code find_action(const pawl__verb *verb, const char *action, unsigned *bit,
                             pawl_error *error)
{
    const char *const *choices =
        verb->arguments[0].name != NULL ? verb->arguments[0].choices : NULL;
    char text[400] = "";
    for (size_t i = 0; choices != NULL && choices[i] != NULL; i++)
        if (strcmp(choices[i], action) == 0) {
            *bit = 1U << i;
            return PAWL_OK;
        }
    if (choices != NULL)
        pawl__suggest(action, "", choices, text, sizeof text);
    char word[PAWL__WORD_SIZE];
    return pawl_error_set(error, PAWL_EINVAL, "pawl %s has no action '%s'%s", verb->name,
                          pawl__shown(action, word), text);
}

void pawl__help_print(const pawl__verb *verb, const char *action, FILE *out)
{
    help_page page = {.out = out};
    if (action != NULL) /* the whole page, if the verb has no such action */
        (void)find_action(verb, action, &page.actions, NULL);
    print_verb(&page, verb);
}

int pawl__help_verb(const pawl__verb *verb, int count, char **words)
{
    verb_fields fields = {.verb = NULL};
    pawl_error  error  = PAWL_ERROR_INIT;
    pawl_code   code   = pawl__verb_parse(verb, count, words, &fields, &error);
    if (code != PAWL_OK)
        return pawl__fail(code, &error);
    help_page to = {.out = stdout, .is_man = fields.is_man};
    if (fields.verb == NULL) {
        print_overview(&to);
        return 0;
    }
    const pawl__verb *about = pawl__verb_find(fields.verb);
    if (about == NULL)
        return pawl__fail(pawl__verb_refuse(fields.verb, &error), &error);
    if (fields.action != NULL && !fields.is_man)
        code = find_action(about, fields.action, &to.actions, &error);
    if (code != PAWL_OK)
        return pawl__fail(code, &error);
    print_verb(&to, about);
    return 0;
}
