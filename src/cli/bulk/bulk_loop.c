/* bulk_loop.c - asks for confirmation, settles a selection in slices at its rate, and counts. See bulk_loop.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/bulk/bulk_loop.h"

#include <signal.h>
#include <time.h>

/* ---- The pace -------------------------------------------------------------- */

/* Rows of one commit; with a rate, those of a tenth of a second. */
static size_t slice_of(int64_t rate)
{
    size_t wanted = rate != 0 ? ((size_t)rate + 9) / 10 : PAWL__BULK_PAGE;
    return wanted < PAWL__BULK_PAGE ? wanted : PAWL__BULK_PAGE;
}

void pawl__pace_wait(int64_t *begun, int64_t done, int64_t rate)
{
    if (rate == 0)
        return;
    int64_t         left = *begun + done * INT64_C(1000000) / rate - pawl__steady_now();
    int64_t         late = -left - (int64_t)slice_of(rate) * INT64_C(1000000) / rate;
    struct timespec span = {.tv_sec = left / 1000000, .tv_nsec = left % 1000000 * 1000};
    if (left > 0)
        (void)nanosleep(&span, NULL);
    if (late > 0)
        *begun += late;
}

/* ---- What is asked and said ------------------------------------------------- */

/* NULL as an empty text. */
static const char *said(const char *text)
{
    return text != NULL ? text : "";
}

static pawl_code ask(const pawl__bulk_loop *it, pawl_error *error)
{
    char command[40], url[PAWL_URL_SIZE_MAX + 1];
    if (!it->words->is_all || it->words->is_agreed || it->total == 0)
        return PAWL_OK;
    snprintf(command, sizeof command, "%s --all", it->words->action);
    return pawl__agree(
        it->command != NULL ? it->command : command, it->done, error, "%s %zu %s%s%s of %s%s?",
        it->question, it->total, it->asked != NULL ? it->asked : it->noun, PAWL__PLURAL(it->total),
        said(it->place), pawl__masked(it->at->store, url, sizeof url), said(it->ending));
}

static pawl_code print_json(const pawl__bulk_loop *it)
{
    bool       is_dry                           = it->words->is_dry;
    pawl__fact facts[PAWL__BULK_COUNTS_MAX + 5] = {
        it->first,
        {.key = is_dry ? "matching" : it->key, .number = (int64_t)(is_dry ? it->total : it->did)}};
    size_t count = 2;
    if (is_dry)
        facts[count++] = it->dry;
    for (const pawl__bulk_count *left = it->left; !is_dry && left->key != NULL; left++)
        facts[count++] = (pawl__fact){.key = left->key, .number = (int64_t)left->count};
    facts[count++] = it->time_limit;
    facts[count++] = it->last;
    return pawl__facts_print(facts, count);
}

pawl_code pawl__bulk_loop_print(const pawl__bulk_loop *it)
{
    if (it->words->is_json)
        return print_json(it);
    size_t count      = it->words->is_dry ? it->total : it->did;
    bool   is_dry     = it->words->is_dry;
    char   text[1000] = "";
    for (const pawl__bulk_count *left = it->left; !is_dry && left->key != NULL; left++)
        if (left->count > 0) {
            size_t size = strlen(text);
            snprintf(text + size, sizeof text - size, "; %zu %s", left->count,
                     left->count == 1 ? left->one : left->many);
        }
    pawl__say(stdout, "%s%s%s %zu %s%s%s%s%s%s%s", is_dry ? "would be " : "", it->done,
              is_dry ? ":" : "", count, it->noun, PAWL__PLURAL(count), said(it->place),
              said(it->to), is_dry ? said(it->until) : "",
              count > 0 && !is_dry ? said(it->note) : "", text);
    return PAWL_OK;
}

/* ---- The loop -------------------------------------------------------------- */

static pawl_code check_interrupted(pawl_error *error)
{
    return pawl__is_interrupted() ? pawl_error_set(error, PAWL_EINTERRUPTED, "interrupted")
                                  : PAWL_OK;
}

static pawl_code settle_slices(pawl__bulk_loop *it, int64_t *begun, size_t size, size_t count,
                               pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t first = 0; code == PAWL_OK && first < count; first += size) {
        size_t slice = count - first < size ? count - first : size, done = 0;
        pawl__pace_wait(begun, (int64_t)it->seen, it->words->rate);
        code = check_interrupted(error);
        if (code == PAWL_OK)
            code = it->settle(it->context, first, slice, &done, error);
        if (code != PAWL_OK)
            return code;
        it->seen += slice;
        it->did += done;
        if (it->words->is_all)
            pawl__progress(it->done, (int64_t)it->seen, (int64_t)it->total);
    }
    return code;
}

static pawl_code settle_all(pawl__bulk_loop *it, pawl_error *error)
{
    size_t    size    = slice_of(it->words->rate), count;
    int64_t   begun   = pawl__steady_now();
    bool      is_last = it->total == 0;
    pawl_code code    = PAWL_OK;
    /* The first signal ends the loop after a commit, a second one the process. */
    pawl__interrupts_note((int)SA_RESETHAND);
    while (code == PAWL_OK && !is_last) {
        count   = it->total;
        is_last = true;
        code    = check_interrupted(error); /* reading a page may take long, and it may be empty */
        if (code == PAWL_OK && it->page != NULL)
            code = it->page(it->context, size, &count, &is_last, error);
        if (code == PAWL_OK)
            code = settle_slices(it, &begun, size, count, error);
    }
    if (it->words->is_all)
        pawl__progress_end((int64_t)it->seen);
    if (code == PAWL_OK || (it->seen == 0 && it->resume == NULL))
        return code;
    return pawl_error_wrap(error, code, "after %zu of %zu %s%s were %s%s", it->did, it->total,
                           it->noun, PAWL__PLURAL(it->total), it->done, said(it->resume));
}

pawl_code pawl__bulk_loop_run(pawl__bulk_loop *it, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    if (!it->words->is_dry)
        code = ask(it, error);
    if (code == PAWL_OK && !it->words->is_dry && it->begin != NULL)
        code = it->begin(it->context, error);
    if (code == PAWL_OK && !it->words->is_dry)
        code = settle_all(it, error);
    return code == PAWL_OK ? pawl__bulk_loop_print(it) : code;
}

/* ---- Words ------------------------------------------------------------------ */

pawl_code pawl__bulk_words_check(const pawl__bulk_words *words, const char *verb, const char *ids,
                                 const char *rows, bool has_filter, pawl_error *error)
{
    const char *extra = has_filter         ? "a filter"
                        : words->is_agreed ? "--yes"
                        : words->is_dry    ? "--dry-run"
                        : words->rate != 0 ? "--rate"
                                           : NULL;
    if (words->is_all && words->ids.count > 0)
        return pawl_error_set(error, PAWL_EINVAL, "give --all or %s, not both", ids);
    if (!words->is_all && words->ids.count == 0)
        return pawl_error_set(error, PAWL_EINVAL,
                              "pawl %s %s needs %s, or --all and what they have in common", verb,
                              words->action, ids);
    if (!words->is_all && extra != NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "pawl %s %s: %s goes with --all, not with %s that are named", verb,
                              words->action, extra, rows);
    return PAWL_OK;
}
