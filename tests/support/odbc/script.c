/* script.c - reads a script and finds answers in it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/odbc/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_SIZE 4000

static script *scripts; /* guarded by the driver's lock; never freed */

/* ---- Patterns ------------------------------------------------------------ */

bool script_fits(const char *pattern, const char *text)
{
    const char *star = NULL, *from = NULL;
    while (*text != '\0') {
        if (*pattern == '*') {
            star = ++pattern;
            from = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star != NULL) {
            pattern = star;
            text    = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

/* ---- Values -------------------------------------------------------------- */

static void fail(script *of, const char *why, const char *line)
{
    if (of->failure[0] == '\0')
        (void)snprintf(of->failure, sizeof of->failure, "%s: %.200s", why, line);
}

static char *fill(size_t size, const char *with)
{
    char *text = malloc(size + 1);
    for (size_t i = 0; text != NULL && i <= size; i++)
        text[i] = i < size ? with[i % strlen(with)] : '\0';
    return text;
}

/* Reads a text in single quotes; a doubled quote is a quote. Returns the end after the last quote; NULL: there is
 * none. */
static const char *read_quoted(script_value *to, const char *at)
{
    to->text = malloc(strlen(at) + 1);
    if (to->text == NULL)
        return NULL;
    for (at++; *at != '\0'; at++) {
        if (*at == '\'' && at[1] != '\'') {
            to->text[to->size] = '\0';
            to->said           = to->size;
            return at + 1;
        }
        at += *at == '\'';
        to->text[to->size++] = *at;
    }
    return NULL;
}

static const char *read_value(script_value *to, const char *at)
{
    const char   *end  = at + strcspn(at, " ");
    unsigned long said = 0, size = 0;
    if (*at == '\'')
        return read_quoted(to, at);
    if (sscanf(at, "lie:%lu:%lu", &said, &size) == 2) {
    } else if (sscanf(at, "fill:%lu", &size) == 1 || sscanf(at, "open:%lu", &size) == 1 ||
               sscanf(at, "pairs:%lu", &size) == 1 || sscanf(at, "open-pairs:%lu", &size) == 1 ||
               sscanf(at, "nul:%lu", &size) == 1) {
        said         = size;
        to->is_open  = *at == 'o' || *at == 'n';
        to->is_whole = strncmp(at, "pairs", 5) == 0 || strncmp(at, "open-", 5) == 0;
    } else {
        to->is_session = strncmp(at, "session", 7) == 0;
        to->is_failed  = strncmp(at, "failed", 6) == 0;
        return to->is_session || to->is_failed || strncmp(at, "null", 4) == 0 ? end : NULL;
    }
    to->text = fill(size, to->is_whole ? "\xC3\xA9" : "a");
    if (*at == 'n' && to->text != NULL)
        memset(to->text, '\0', size);
    to->size = size;
    to->said = said;
    return to->text != NULL ? end : NULL;
}

static void read_row(script *of, script_answer *answer, const char *line)
{
    script_row **last = &answer->rows;
    script_row  *row  = calloc(1, sizeof *row);
    const char  *at   = line;
    while (*last != NULL)
        last = &(*last)->next;
    *last = row;
    while (row != NULL && at != NULL && *at != '\0' && row->count < SCRIPT_COLUMNS_MAX) {
        at = read_value(&row->values[row->count++], at);
        at += at != NULL ? strspn(at, " ") : 0;
    }
    if (row == NULL || at == NULL || *at != '\0')
        fail(of, "a row that cannot be read", line);
    else
        answer->column_count = row->count;
}

/* ---- Lines --------------------------------------------------------------- */

static void read_record(script *of, script_record **list, const char *line)
{
    script_record *made = calloc(1, sizeof *made);
    while (*list != NULL)
        list = &(*list)->next;
    *list = made;
    if (made == NULL ||
        sscanf(line, "%5s %ld %199[^\n]", made->state, &made->native, made->text) < 2)
        fail(of, "a record that cannot be read", line);
}

static void read_result(script *of, script_answer *answer, script_result result, const char *line)
{
    answer->result = result;
    if (*line != '\0')
        read_record(of, &answer->records, line);
}

static script_answer *add_answer(script *of, script_answer **list, const char *line)
{
    while (*list != NULL)
        list = &(*list)->next;
    *list = calloc(1, sizeof **list);
    if (*list == NULL)
        fail(of, "out of memory", line);
    return *list;
}

static void read_rule(script *of, script_rule **rule, script_answer **answer, const char *pattern)
{
    script_rule **last = &of->rules;
    script_rule  *made = calloc(1, sizeof *made);
    while (*last != NULL)
        last = &(*last)->next;
    *last = *rule = made;
    *answer       = NULL;
    if (made == NULL || (made->pattern = strdup(pattern)) == NULL) {
        fail(of, "out of memory", pattern);
        return;
    }
    made->times = -1;
    *answer     = add_answer(of, &made->answers, pattern);
}

static void read_flag(script *of, script_answer *answer, const char *word)
{
    if (strcmp(word, "blocks") == 0)
        answer->blocks = true;
    else if (strcmp(word, "stalls") == 0)
        answer->stalls = true;
    else if (strcmp(word, "wakes") == 0)
        answer->wakes = true;
    else if (strcmp(word, "gone") == 0)
        answer->is_gone = true;
    else
        fail(of, "no word of a script", word);
}

static void read_answer(script *of, script_rule *rule, script_answer **answer, const char *word,
                        const char *rest)
{
    if (strcmp(word, "times") == 0)
        rule->times = strtol(rest, NULL, 10);
    else if (strcmp(word, "deaf") == 0)
        (*answer)->deaf = strtol(rest, NULL, 10);
    else if (strcmp(word, "row") == 0)
        read_row(of, *answer, rest);
    else if (strcmp(word, "columns") == 0)
        (*answer)->column_count = (unsigned)strtoul(rest, NULL, 10);
    else if (strcmp(word, "count") == 0)
        (*answer)->count = strtol(rest, NULL, 10);
    else if (strcmp(word, "error") == 0)
        read_result(of, *answer, SCRIPT_ERROR, rest);
    else if (strcmp(word, "info") == 0)
        read_result(of, *answer, SCRIPT_INFO, rest);
    else if (strcmp(word, "nodata") == 0)
        read_result(of, *answer, SCRIPT_NO_DATA, rest);
    else if (strcmp(word, "fetch") == 0)
        read_record(of, &(*answer)->fetch, rest);
    else if (strcmp(word, "then") == 0)
        *answer = add_answer(of, &rule->answers, rest);
    else
        read_flag(of, *answer, word);
}

static void read_line(script *of, script_rule **rule, script_answer **answer, char *line)
{
    char *word                = line + strspn(line, " ");
    char *end                 = word + strcspn(word, " \n");
    char *rest                = end + strspn(end, " ");
    rest[strcspn(rest, "\n")] = '\0';
    *end                      = '\0';
    if (*word == '\0' || *word == '#')
        return;
    if (strcmp(word, "on") == 0)
        read_rule(of, rule, answer, rest);
    else if (strcmp(word, "name") == 0)
        (void)snprintf(of->name, sizeof of->name, "%.99s", rest);
    else if (strcmp(word, "types") == 0)
        of->has_types = true;
    else if (*rule == NULL || *answer == NULL)
        fail(of, "an answer without a rule", word);
    else
        read_answer(of, *rule, answer, word, rest);
}

static void read_script(script *of)
{
    char           line[LINE_SIZE];
    script_rule   *rule   = NULL;
    script_answer *answer = NULL;
    FILE          *file   = fopen(of->path, "r");
    if (file == NULL) {
        fail(of, "no script", of->path);
        return;
    }
    while (fgets(line, sizeof line, file) != NULL)
        read_line(of, &rule, &answer, line);
    (void)fclose(file);
}

script *script_of(const char *path)
{
    script *found = scripts;
    while (found != NULL && strcmp(found->path, path) != 0)
        found = found->next;
    if (found != NULL)
        return found;
    found = calloc(1, sizeof *found);
    if (found == NULL || (found->path = strdup(path)) == NULL) {
        free(found);
        return NULL;
    }
    (void)snprintf(found->name, sizeof found->name, "scripted");
    read_script(found);
    found->next = scripts;
    scripts     = found;
    return found;
}

const script_answer *script_find(script *of, const char *kind, const char *text)
{
    size_t size = strlen(kind);
    for (script_rule *rule = of->rules; rule != NULL; rule = rule->next) {
        bool is_kind = strncmp(rule->pattern, kind, size) == 0;
        if (rule->times == 0 || !is_kind || !script_fits(rule->pattern + size, text))
            continue;
        rule->times -= rule->times > 0;
        return rule->answers;
    }
    return NULL;
}

bool script_columns(const script *of, const char *text, unsigned *count)
{
    bool is_named = false;
    *count        = 0;
    for (const script_rule *rule = of->rules; rule != NULL && *count == 0; rule = rule->next) {
        if (!script_fits(rule->pattern, text))
            continue;
        is_named = true;
        *count   = rule->answers->column_count;
    }
    return is_named;
}
