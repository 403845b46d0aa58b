/* diagnose.c - runs the checks of a database and makes findings of their rows. See diagnose.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/diagnose.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const pawl__field_list pawl__sql_found_row = PAWL__FIELDS(
    PAWL__AS_OF(pawl__sql_found, number, INT), PAWL__AS_OF(pawl__sql_found, text, TEXT),
    PAWL__AS_OF(pawl__sql_found, remedy, TEXT));

bool pawl__sql_is_gone(pawl_code code)
{
    return code == PAWL_ELOST || code == PAWL_EUNREACHABLE || code == PAWL_EINTERRUPTED ||
           code == PAWL_ETIMEOUT || code == PAWL_ENOMEM;
}

/* ---- Remedies ----------------------------------------------------------- */

/* The remedy, in the arena: SQL becomes a command of the database's client, a pawl command stays as it is. */
static pawl_text remedy_of(const pawl__sql_doctor *doctor, pawl_text remedy)
{
    static const char own[] = "pawl ";
    if (remedy.size == 0)
        return PAWL_TEXT("");
    if (remedy.size >= sizeof own - 1 && memcmp(remedy.data, own, sizeof own - 1) == 0)
        return pawl_arena_text(doctor->arena, remedy);
    pawl__sql_text text = {0};
    pawl_text      made = {0};
    pawl__sql_append(&text, doctor->client);
    pawl__sql_append_option(&text, " ", remedy);
    if (!text.is_failed)
        made = pawl_arena_text(doctor->arena, pawl__sql_text_of(&text));
    pawl__sql_text_free(&text);
    return made;
}

/* ---- Findings ----------------------------------------------------------- */

pawl_code pawl__sql_add_finding(pawl__sql_doctor *doctor, const char *name,
                                pawl_finding_level level, pawl_text text, pawl_text remedy)
{
    pawl_finding_rows *rows = doctor->rows;
    pawl_finding      *grown =
        pawl_arena_grow(doctor->arena, rows->items, rows->count, &doctor->capacity, sizeof *grown);
    pawl_finding made = {.name   = pawl_text_of(name),
                         .level  = level,
                         .text   = pawl_arena_text(doctor->arena, text),
                         .remedy = remedy_of(doctor, remedy)};
    if (grown == NULL || made.text.data == NULL || made.remedy.data == NULL)
        return pawl__sql_no_memory(doctor->store, "findings", doctor->error);
    rows->items                = grown;
    rows->items[rows->count++] = made;
    return PAWL_OK;
}

pawl_code pawl__sql_findf(pawl__sql_doctor *doctor, const char *name, pawl_finding_level level,
                          const char *remedy, const char *format, ...)
{
    char    text[PAWL_ERROR_TEXT_SIZE_MAX];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return pawl__sql_add_finding(doctor, name, level, pawl_text_of(text), pawl_text_of(remedy));
}

static pawl_code find_clock(pawl__sql_doctor *doctor, const char *name, pawl_time server)
{
    int64_t            offset = server - doctor->asked->now;
    int64_t            size   = offset < 0 ? -offset : offset;
    pawl_finding_level level  = size >= PAWL_CLOCK_OFFSET_FAIL   ? PAWL_FINDING_FAIL
                                : size >= PAWL_CLOCK_OFFSET_WARN ? PAWL_FINDING_WARN
                                                                 : PAWL_FINDING_OK;
    if (level == PAWL_FINDING_OK)
        return pawl__sql_findf(doctor, name, level, "", "the server's clock and this one agree");
    return pawl__sql_findf(doctor, name, level, "",
                           "the server's clock is %" PRId64
                           ".%03d s %s this one's: leases and due times use both clocks; set "
                           "the clock of this machine or of the server (chronyc makestep)",
                           size / 1000000, (int)(size / 1000 % 1000),
                           offset > 0 ? "ahead of" : "behind");
}

/* Sets the value of the finding that was added last. */
static pawl_code set_value(pawl__sql_doctor *doctor, pawl_code code, int64_t value)
{
    if (code == PAWL_OK)
        doctor->rows->items[doctor->rows->count - 1].value = value;
    return code;
}

static bool is_time(const pawl__sql_check *check)
{
    return check->measure == PAWL__SQL_MEASURE_CLOCK ||
           check->measure == PAWL__SQL_MEASURE_RECORDED;
}

static pawl_code find_row(pawl__sql_doctor *doctor, const pawl__sql_check *check,
                          const pawl__sql_found *found, size_t *count)
{
    if (check->measure == PAWL__SQL_MEASURE_AGE && found->number < doctor->asked->transaction_age)
        return PAWL_OK;
    ++*count;
    if (is_time(check)) {
        int64_t offset = found->number - doctor->asked->now;
        return set_value(doctor, find_clock(doctor, check->name, found->number),
                         offset < 0 ? -offset : offset);
    }
    if (check->measure == PAWL__SQL_MEASURE_AGE)
        return set_value(
            doctor,
            pawl__sql_add_finding(doctor, check->name,
                                  found->remedy.size == 0 ? PAWL_FINDING_WARN : PAWL_FINDING_FAIL,
                                  found->text, found->remedy),
            found->number);
    return pawl__sql_add_finding(doctor, check->name, (pawl_finding_level)found->number,
                                 found->text, found->remedy);
}

/* A check that the database refuses is a warning; a thorough check whose data cannot be read is a failure. */
static pawl_code find_unable(pawl__sql_doctor *doctor, const pawl__sql_check *check,
                             const pawl_error *why)
{
    char remedy[700] = "";
    if (check->unable != NULL)
        (void)snprintf(remedy, sizeof remedy, "%s%s", check->unable, doctor->user);
    return pawl__sql_findf(doctor, check->name,
                           check->is_thorough ? PAWL_FINDING_FAIL : PAWL_FINDING_WARN, remedy,
                           "cannot be read: %s", why->text);
}

/* ---- Checks ------------------------------------------------------------- */

static pawl_code run_check(pawl__sql_doctor *doctor, const pawl__sql_check *check)
{
    pawl__sql_text text  = {0};
    pawl_found     rows  = {0};
    pawl_error     why   = PAWL_ERROR_INIT;
    size_t         count = 0;
    pawl__sql_expand(&text, doctor->dialect, doctor->store->system_prefix, check->select);
    if (text.is_failed) {
        pawl__sql_text_free(&text);
        return pawl__sql_no_memory(doctor->store, "a check", doctor->error);
    }
    pawl_code code = doctor->ask(doctor->store, text.data, doctor->arena, &rows, &why);
    pawl__sql_text_free(&text);
    if (pawl__sql_is_gone(code))
        return pawl_error_set(doctor->error, code, "%s", why.text);
    if (code != PAWL_OK)
        return find_unable(doctor, check, &why);
    const pawl__sql_found *found = rows.items;
    for (size_t i = 0; code == PAWL_OK && i < rows.count; i++)
        code = find_row(doctor, check, &found[i], &count);
    if (code == PAWL_OK && count == 0 && check->none != NULL)
        code = pawl__sql_findf(doctor, check->name, PAWL_FINDING_OK, "", "%s", check->none);
    return code;
}

static bool is_wanted(const pawl_diagnosis *asked, const pawl__sql_check *check)
{
    bool is_recorded = check->measure == PAWL__SQL_MEASURE_RECORDED;
    if (asked->is_brief)
        return asked->is_time ? is_time(check)
                              : !is_recorded && check->measure != PAWL__SQL_MEASURE_LEVEL;
    return !is_recorded && (!check->is_thorough || asked->is_thorough);
}

pawl_code pawl__sql_checks(pawl__sql_doctor *doctor, const pawl__sql_check *checks, size_t count)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        if (is_wanted(doctor->asked, &checks[i]))
            code = run_check(doctor, &checks[i]);
    return code;
}

pawl_code pawl__sql_check_all(pawl__sql_doctor *doctor, const pawl__sql_check_list *list)
{
    pawl_code code = PAWL_OK;
    if (list->check_rights != NULL && !doctor->asked->is_brief)
        code = list->check_rights(doctor);
    return code == PAWL_OK ? pawl__sql_checks(doctor, list->items, list->count) : code;
}
