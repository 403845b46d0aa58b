/* exposition.c - reads Prometheus's text format.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/exposition.h"
#include "support/tests.h"

typedef struct line {
    const char *at, *end;
    size_t      number;
} line;

static void refuse(const line *of, const char *why)
{
    fail_msg("line %zu of the page: %s at '%.*s'", of->number, why, (int)(of->end - of->at),
             of->at);
}

static bool take(line *of, const char *text)
{
    size_t size  = strlen(text);
    bool   found = (size_t)(of->end - of->at) >= size && memcmp(of->at, text, size) == 0;
    of->at += found ? size : 0;
    return found;
}

static bool is_name_byte(char c, bool is_first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' ||
           (c >= '0' && c <= '9' && !is_first);
}

static void read_name(line *of, char *name, size_t size)
{
    size_t used = 0;
    while (of->at < of->end && is_name_byte(*of->at, used == 0) && used + 1 < size)
        name[used++] = *of->at++;
    name[used] = '\0';
    if (used == 0)
        refuse(of, "no name");
}

static void read_label(line *of, exposition_sample *sample)
{
    char   name[100], value[300];
    size_t used = 0;
    read_name(of, name, sizeof name);
    if (!take(of, "=\""))
        refuse(of, "no =\"");
    while (of->at < of->end && *of->at != '"' && used + 1 < sizeof value) {
        char c = *of->at++;
        if (c == '\\') {
            if (of->at == of->end || strchr("\\\"n", *of->at) == NULL)
                refuse(of, "a bad escape");
            c = *of->at++;
        }
        value[used++] = c;
    }
    value[used] = '\0';
    if (!take(of, "\""))
        refuse(of, "no closing quote");
    if (strcmp(name, "le") == 0)
        snprintf(sample->le, sizeof sample->le, "%.19s", value);
}

static void read_sample(exposition *page, line *of)
{
    exposition_sample *sample = &page->samples[page->sample_count];
    const char        *begin  = of->at;
    assert_true(page->sample_count < EXPOSITION_SAMPLES_MAX);
    if (page->family_count == 0)
        refuse(of, "a sample before its family");
    *sample = (exposition_sample){.family = page->family_count - 1};
    read_name(of, sample->name, sizeof sample->name);
    if (take(of, "{")) {
        read_label(of, sample);
        while (take(of, ","))
            read_label(of, sample);
        if (!take(of, "}"))
            refuse(of, "no closing brace");
    }
    assert_true((size_t)(of->at - begin) < sizeof sample->series);
    memcpy(sample->series, begin, (size_t)(of->at - begin));
    if (!take(of, " "))
        refuse(of, "no blank before the value");
    char *end     = NULL;
    sample->value = strtod(of->at, &end);
    if (end == of->at || end != of->end)
        refuse(of, "no number to the end of the line");
    if (exposition_has(page, sample->series))
        refuse(of, "a series twice");
    page->sample_count++;
}

static void read_help(exposition *page, line *of)
{
    exposition_family *family = &page->families[page->family_count];
    assert_true(page->family_count < EXPOSITION_FAMILIES_MAX);
    *family = (exposition_family){.name = ""};
    read_name(of, family->name, sizeof family->name);
    if (!take(of, " ") || of->at == of->end)
        refuse(of, "no help");
    snprintf(family->help, sizeof family->help, "%.*s", (int)(of->end - of->at), of->at);
    for (size_t i = 0; i < page->family_count; i++)
        if (strcmp(page->families[i].name, family->name) == 0)
            refuse(of, "a family twice");
    page->family_count++;
}

static void read_type(exposition *page, line *of)
{
    static const char *const types[] = {"counter", "gauge", "histogram"};
    char                     name[100];
    read_name(of, name, sizeof name);
    if (page->family_count == 0 || strcmp(page->families[page->family_count - 1].name, name) != 0 ||
        !take(of, " "))
        refuse(of, "the type of another family");
    exposition_family *family = &page->families[page->family_count - 1];
    if (family->type[0] != '\0')
        refuse(of, "a second type");
    read_name(of, family->type, sizeof family->type);
    for (size_t i = 0; i < COUNT(types); i++)
        if (strcmp(types[i], family->type) == 0 && of->at == of->end)
            return;
    refuse(of, "an unknown type");
}

/* ---- Families ------------------------------------------------------------------ */

static bool is_member(const exposition_family *family, const exposition_sample *sample)
{
    static const char *const ends[] = {"_bucket", "_sum", "_count"};
    size_t                   size   = strlen(family->name);
    if (strcmp(family->type, "histogram") != 0)
        return strcmp(family->name, sample->name) == 0;
    for (size_t i = 0; i < COUNT(ends); i++)
        if (strncmp(sample->name, family->name, size) == 0 &&
            strcmp(sample->name + size, ends[i]) == 0)
            return true;
    return false;
}

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), end_size = strlen(end);
    return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

/* Checks that bounds rise, counts do not fall, and the bucket +Inf equals the count. */
static void check_histogram(const exposition *page, size_t first)
{
    const exposition_sample *sample = &page->samples[first];
    double                   bound = -1, count = -1;
    size_t                   i = first;
    for (; i < page->sample_count && page->samples[i].le[0] != '\0'; i++) {
        double next = strtod(page->samples[i].le, NULL); /* strtod reads "+Inf" as infinity */
        if (next <= bound)
            break;
        assert_true(page->samples[i].value >= count);
        bound = next;
        count = page->samples[i].value;
    }
    assert_string_equal(page->samples[i - 1].le, "+Inf");
    assert_true(i + 1 < page->sample_count);
    assert_true(ends_with(page->samples[i].name, "_sum"));
    assert_true(ends_with(page->samples[i + 1].name, "_count"));
    assert_true(page->samples[i + 1].value == count);
    assert_true(sample->family == page->samples[i + 1].family);
}

static void check_all(const exposition *page)
{
    for (size_t i = 0; i < page->sample_count; i++) {
        const exposition_sample *sample = &page->samples[i];
        const exposition_family *family = &page->families[sample->family];
        if (!is_member(family, sample))
            fail_msg("%s is no sample of %s, a %s", sample->series, family->name, family->type);
        if (ends_with(family->name, "_total") != (strcmp(family->type, "counter") == 0))
            fail_msg("%s is a %s", family->name, family->type);
        if (ends_with(sample->name, "_bucket") &&
            (i == 0 || strcmp(page->samples[i - 1].name, sample->name) != 0))
            check_histogram(page, i);
    }
}

void exposition_read(exposition *page, pawl_text text)
{
    const char *at = text.data, *end = text.data + text.size;
    *page = (exposition){.sample_count = 0};
    assert_true(text.size > 0 && end[-1] == '\n');
    for (size_t number = 1; at < end; number++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        line        of      = {at, newline, number};
        if (take(&of, "# HELP "))
            read_help(page, &of);
        else if (take(&of, "# TYPE "))
            read_type(page, &of);
        else
            read_sample(page, &of);
        at = newline + 1;
    }
    check_all(page);
}

static const exposition_sample *find(const exposition *page, const char *series)
{
    for (size_t i = 0; i < page->sample_count; i++)
        if (strcmp(page->samples[i].series, series) == 0)
            return &page->samples[i];
    return NULL;
}

bool exposition_has(const exposition *page, const char *series)
{
    return find(page, series) != NULL;
}

double exposition_value(const exposition *page, const char *series)
{
    const exposition_sample *sample = find(page, series);
    if (sample == NULL)
        fail_msg("the page has no %s", series);
    return sample != NULL ? sample->value : 0;
}
