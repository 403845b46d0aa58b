/* broken_store.c - the driver that carries a defect.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/broken_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pawl_store_ops ops;
static const defect  *current;

typedef void function(void);
#define FUNCTIONS_OFFSET offsetof(pawl_store_ops, open)
#define FUNCTIONS_COUNT ((sizeof(pawl_store_ops) - FUNCTIONS_OFFSET) / sizeof(function *))

/* "broken:x" is "memory:x". */
static pawl_code broken_open(pawl_store *store, const char *url, const pawl_store_options *options,
                             pawl_error *error)
{
    char memory_url[200];
    snprintf(memory_url, sizeof memory_url, "memory:%s", strchr(url, ':') + 1);
    return pawl__memory_driver.open(store, memory_url, options, error);
}

#define COPY_KIND(name, is_refusable)                                                        \
    {                                                                                        \
        size_t       count = given->name.count;                                              \
        pawl_##name *items = pawl_arena_take(e->arena, (count + EDIT_ROOM) * sizeof *items); \
        if (items == NULL)                                                                   \
            return false;                                                                    \
        if (count > 0)                                                                       \
            memcpy(items, given->name.items, count * sizeof *items);                         \
        e->changes.name.items = items;                                                       \
    }
static bool copy_changes(edit *e, const pawl_changes *given)
{
    e->changes = *given;
    PAWL_CHANGE_KINDS(COPY_KIND)
    return true;
}

static pawl_code broken_commit(pawl_store *store, const pawl_changes *changes,
                               pawl_refusals *refused, pawl_error *error)
{
    edit e = {.store = store, .arena = pawl_arena_create(0)};
    if (e.arena == NULL || !copy_changes(&e, changes)) {
        pawl_arena_destroy(e.arena);
        return PAWL_ENOMEM;
    }
    current->rewrite(&e);
    pawl_code code = pawl__memory_driver.commit(store, &e.changes, refused, error);
    pawl_arena_destroy(e.arena);
    return code;
}

void broken_set(const defect *chosen)
{
    function *stand_in;
    current    = chosen;
    ops        = pawl__memory_driver;
    ops.scheme = "broken";
    ops.open   = broken_open;
    char *to   = (char *)&ops + FUNCTIONS_OFFSET;
    for (size_t i = 0; chosen != NULL && i < FUNCTIONS_COUNT; i++) {
        memcpy(&stand_in, (const char *)&chosen->ops + FUNCTIONS_OFFSET + i * sizeof stand_in,
               sizeof stand_in);
        if (stand_in != NULL)
            memcpy(to + i * sizeof stand_in, &stand_in, sizeof stand_in);
    }
    if (chosen != NULL && chosen->rewrite != NULL)
        ops.commit = broken_commit;
}

void broken_register(void)
{
    pawl_error error = PAWL_ERROR_INIT;
    broken_set(NULL);
    if (pawl_store_register(&ops, &error) != PAWL_OK) {
        fprintf(stderr, "%s\n", error.text);
        abort();
    }
}

pawl_found broken_rows(edit *e, pawl_find asked)
{
    pawl_found found = {.count = 0};
    asked.limit      = INT64_MAX;
    (void)pawl__memory_driver.find(e->store, &asked, e->arena, &found, NULL);
    return found;
}
