/* doctor_find.c - the list of findings of `pawl doctor`, and their remedies.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/answers/doctor.h"

#include <stdarg.h>

void pawl__doctor_add(pawl__doctor *doctor, const pawl_finding *finding)
{
    pawl_finding_rows *found = &doctor->found;
    found->items = pawl__must_grow(doctor->arena, found->items, found->count, &doctor->capacity,
                                   sizeof *found->items);
    found->items[found->count++] = *finding;
}

pawl_code pawl__doctor_find(pawl__doctor *doctor, pawl_finding_level level, const char *remedy,
                            const char *format, ...)
{
    char    text[PAWL_ERROR_TEXT_SIZE_MAX];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    pawl_finding finding = {
        .name   = pawl_text_of(doctor->check),
        .level  = level,
        .text   = pawl__must_text(doctor->arena, pawl_text_of(text)),
        .remedy = pawl__store_command(doctor->at, pawl_text_of(remedy), doctor->arena)};
    pawl__doctor_add(doctor, &finding);
    return PAWL_OK;
}

bool pawl__doctor_has_worker(const pawl__doctor *doctor, pawl_text endpoint)
{
    return PAWL__ROW_OF(pawl_worker_info, endpoint, doctor->workers, doctor->worker_count,
                        endpoint) != NULL;
}
