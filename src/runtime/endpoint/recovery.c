/* recovery.c - makes the list of recovery rows in effect for an endpoint: those of the program that runs it, then those
 * of the application's table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/endpoint/recovery.h"

#include "runtime/runtime.h"

/* Refuses a row that is never reached, as an earlier one of the same list matches all its failures. */
static pawl_code check_reached(const pawl__recovery *rows, size_t first, const pawl_recovery *row,
                               pawl_error *error)
{
    for (size_t i = first; i < rows->count; i++)
        if (pawl__recovery_shadows(&rows->rows[i], row))
            return pawl_error_set(error, PAWL_ECONFIG, "row %zu takes all that it is for",
                                  i - first + 1);
    return PAWL_OK;
}

static pawl_code take_row(pawl__recovery *rows, size_t first, const pawl_recovery *row,
                          const char *from, pawl_error *error)
{
    size_t number = rows->count - first + 1;
    if (rows->count == PAWL_RECOVERY_ROWS_MAX)
        return pawl_error_set(error, PAWL_ECONFIG, "option recovery%s: more than %d rows", from,
                              PAWL_RECOVERY_ROWS_MAX);
    pawl_code code = pawl__recovery_check(row, error);
    if (code == PAWL_OK)
        code = check_reached(rows, first, row, error);
    if (code != PAWL_OK)
        return pawl_error_wrap(error, code, "option recovery%s, row %zu", from, number);
    rows->rows[rows->count++] = *row;
    return PAWL_OK;
}

static pawl_code take_rows(pawl__recovery *rows, const pawl_endpoint_options *options,
                           const char *from, pawl_error *error)
{
    size_t        first = rows->count;
    pawl_recovery row;
    pawl_code     code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && pawl__recovery_at(options, i, &row); i++)
        code = take_row(rows, first, &row, from, error);
    return code;
}

pawl_code pawl__recovery_take(pawl__recovery *rows, const pawl_endpoint_options *options,
                              const pawl_endpoint_options *table, pawl_error *error)
{
    pawl_code code = take_rows(rows, options, "", error);
    return code == PAWL_OK ? take_rows(rows, table, " in the endpoint's table", error) : code;
}

/* Does the endpoint have a message or timeout of the type? */
static bool is_known(const pawl__model *model, pawl_text type)
{
    return pawl__model_type(model, type) != NULL ||
           PAWL__ROW_OF(pawl__timeout_model, name, model->timeouts, model->timeout_count, type) !=
               NULL;
}

/* Only warns: an operator's row may be for other endpoints of the process, and derived types need no handler of their
 * own. */
void pawl__recovery_warn(const pawl__recovery *rows, const pawl__model *model)
{
    for (size_t i = 0; i < rows->count; i++) {
        const char *type = rows->rows[i].type;
        if (type != NULL && !is_known(model, pawl_text_of(type)))
            pawl_log(PAWL_LOG_WARNING,
                     "endpoint %s: row %zu of option recovery is for type '%s', which none of its "
                     "handlers and timeouts is for",
                     model->endpoint.data, i + 1, type);
    }
}
