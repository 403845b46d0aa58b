/* recovery.h - checks the recovery rows of an endpoint (pawl/recovery.h) and makes the list in effect.
 *
 * The checks are inline functions, as the library and the command both use them.
 *
 * Tests: tests/unit/runtime/test_runtime_recovery.c, tests/system/command_options.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_RECOVERY_H
#define PAWL_RUNTIME_RECOVERY_H

#include "base/delay.h"
#include "engine/engine.h"
#include "pawl/endpoint.h"
#include "workflow/model.h"

#include <string.h>

/* The limits are those of the options that a row overrides. */
#define PAWL__RECOVERY_IMMEDIATE_MAX 100
#define PAWL__RECOVERY_DELAYED_MAX 1000
#define PAWL__RECOVERY_DELAY_MAX PAWL_DAYS(365)

/* Is it an empty row, which ends the list? */
static inline bool pawl__recovery_is_end(const pawl_recovery *row)
{
    return row->code == PAWL_OK && row->type == NULL && row->immediate == 0 && row->delayed == 0 &&
           row->delay == 0 && row->delay_max == 0 && row->then == PAWL_THEN_DEAD;
}

/* Reads row `index` of the options' list; recovery_size is the size of the program's rows. False: the list is
 * shorter. */
static inline bool pawl__recovery_at(const pawl_endpoint_options *options, size_t index,
                                     pawl_recovery *row)
{
    size_t size = options->recovery_size != 0 ? options->recovery_size : sizeof *row;
    if (options->recovery == NULL)
        return false;
    pawl__table_row(options->recovery, index, (uint32_t)size, row, sizeof *row);
    return !pawl__recovery_is_end(row);
}

/* Does `first` match every failure that `later` matches? */
static inline bool pawl__recovery_shadows(const pawl_recovery *first, const pawl_recovery *later)
{
    return (first->code == PAWL_OK || first->code == later->code) &&
           (first->type == NULL || (later->type != NULL && strcmp(first->type, later->type) == 0));
}

static inline pawl_code pawl__recovery_check_code(const pawl_recovery *row, pawl_error *error)
{
    const char *name = pawl_code_name(row->code);
    if (strcmp(name, "?") == 0)
        return pawl_error_set(error, PAWL_ECONFIG, "code %d is not a code of pawl", (int)row->code);
    if (row->code == PAWL_DISCARD)
        return pawl_error_set(error, PAWL_ECONFIG, "code DISCARD is not a failure");
    if (row->code == PAWL_EVERSION)
        return pawl_error_set(
            error, PAWL_ECONFIG,
            "code EVERSION is not a failure: its message waits for a program that "
            "reads it, every version_delay");
    if (row->code == PAWL_ECRASHED)
        return pawl_error_set(
            error, PAWL_ECONFIG,
            "code ECRASHED has a limit of its own, crashes_max, which no row changes");
    if (row->code == PAWL_RETRY_AFTER &&
        (row->immediate != 0 || row->delay != 0 || row->delay_max != 0))
        return pawl_error_set(error, PAWL_ECONFIG,
                              "code RETRY_AFTER comes with a delay of its own: a row of it has "
                              "'delayed' and 'then' only");
    return PAWL_OK;
}

static inline pawl_code pawl__recovery_check_numbers(const pawl_recovery *row, pawl_error *error)
{
    const struct {
        const char *name;
        int64_t     value, low, high;
    } numbers[] = {{"immediate", row->immediate, -1, PAWL__RECOVERY_IMMEDIATE_MAX},
                   {"delayed", row->delayed, -1, PAWL__RECOVERY_DELAYED_MAX},
                   {"delay", row->delay, 0, PAWL__RECOVERY_DELAY_MAX},
                   {"delay_max", row->delay_max, 0, PAWL__RECOVERY_DELAY_MAX},
                   {"then", (int64_t)row->then, PAWL_THEN_DEAD, PAWL_THEN_DISCARD}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (numbers[i].value < numbers[i].low || numbers[i].value > numbers[i].high)
            return pawl_error_set(error, PAWL_ECONFIG, "%s is %lld, the limits are %lld to %lld",
                                  numbers[i].name, (long long)numbers[i].value,
                                  (long long)numbers[i].low, (long long)numbers[i].high);
    if (row->delay_max != 0 && row->delay > row->delay_max)
        return pawl_error_set(error, PAWL_ECONFIG, "delay is longer than delay_max");
    if (row->delayed < 0 && (row->delay != 0 || row->delay_max != 0))
        return pawl_error_set(error, PAWL_ECONFIG, "a delay, and no delayed retries");
    pawl_code code = pawl__check_unit("", "delay", "", row->delay, error);
    return code != PAWL_OK ? code : pawl__check_unit("", "delay_max", "", row->delay_max, error);
}

/* Checks the row without regard to others. PAWL_ECONFIG tells the mistake. */
static inline pawl_code pawl__recovery_check(const pawl_recovery *row, pawl_error *error)
{
    size_t    size = row->type != NULL ? strlen(row->type) : 1;
    pawl_code code = pawl__recovery_check_code(row, error);
    if (code == PAWL_OK && (size == 0 || size > PAWL_NAME_SIZE_MAX))
        code = pawl_error_set(error, PAWL_ECONFIG, "type has %zu bytes, the limit is 1 to %d", size,
                              PAWL_NAME_SIZE_MAX);
    return code == PAWL_OK ? pawl__recovery_check_numbers(row, error) : code;
}

/* recovery.c: copies the rows of the program that runs the endpoint, then those of the application's table.
 * PAWL_ECONFIG names a wrong row by its list and number. The texts are borrowed. */
pawl_code pawl__recovery_take(pawl__recovery *rows, const pawl_endpoint_options *options,
                              const pawl_endpoint_options *table, pawl_error *error);
/* Logs rows for types that the endpoint does not handle. */
void pawl__recovery_warn(const pawl__recovery *rows, const pawl__model *model);

#endif
