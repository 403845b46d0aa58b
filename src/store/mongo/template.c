/* template.c - builds documents from a text with placeholders.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/template.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    const char              *at;
    va_list                  arguments;
    const pawl__mongo_scope *scope;
    bool                     is_ok;
} reader;

/* The member being built: its name, and whether it is left out without a value. */
typedef struct member {
    bson_t     *to;
    const char *name;
    int         size;
    bool        is_optional;
} member;

static void put(reader *r, const member *m, int wire, const void *at)
{
    if (!m->is_optional || !pawl__mongo_is_empty(wire, at))
        r->is_ok &= pawl__mongo_put_value(m->to, m->name, m->size, wire, at);
}

static void put_list(reader *r, const member *m, const pawl__mongo_list *list)
{
    bson_t      items;
    char        text[16];
    const char *name = NULL;
    uint32_t    used = 0;
    if (m->is_optional && list->count == 0)
        return;
    r->is_ok &= bson_append_array_begin(m->to, m->name, m->size, &items);
    for (size_t i = 0; i < list->count; i++) {
        const char *row = list->stride != 0 ? (const char *)list->items + i * list->stride
                                            : ((const void *const *)list->items)[i];
        const void *at  = row + list->offset;
        if (list->wire == PAWL__WIRE_VALUE && pawl__mongo_is_empty(list->wire, at))
            continue;
        int size = (int)bson_uint32_to_string(used++, &name, text, sizeof text);
        r->is_ok &= pawl__mongo_put_value(&items, name, size, list->wire, at);
    }
    r->is_ok &= bson_append_array_end(m->to, &items);
}

static const void *value_at(const pawl__mongo_scope *scope, pawl_text name)
{
    return (const char *)scope->change + pawl__mongo_field_of(scope->fields, name)->offset;
}

/* ---- Holes --------------------------------------------------------------- */

static void put_argument(reader *r, const member *m)
{
    pawl_text     text;
    pawl_uuid     uuid;
    int64_t       integer;
    bool          truth;
    const bson_t *inner;
    bson_iter_t   at;
    char          type = r->at[1];
    r->at += 2;
    switch (type) {
    case 't':
        text = va_arg(r->arguments, pawl_text);
        put(r, m, PAWL__WIRE_TEXT, &text);
        return;
    case 'c':
        text = pawl_text_of(va_arg(r->arguments, const char *));
        put(r, m, PAWL__WIRE_TEXT, &text);
        return;
    case 'u':
        uuid = va_arg(r->arguments, pawl_uuid);
        put(r, m, PAWL__WIRE_UUID, &uuid);
        return;
    case 'i':
    case 'n':
        integer = type == 'i' ? va_arg(r->arguments, int64_t) : va_arg(r->arguments, int);
        put(r, m, PAWL__WIRE_INT, &integer);
        return;
    case 'b':
        truth = va_arg(r->arguments, int) != 0;
        put(r, m, PAWL__WIRE_BOOL, &truth);
        return;
    case 'v': put(r, m, PAWL__WIRE_VALUE, va_arg(r->arguments, const pawl_value *)); return;
    case 'l': put_list(r, m, va_arg(r->arguments, const pawl__mongo_list *)); return;
    case 'e':
        inner = va_arg(r->arguments, const bson_t *);
        if (bson_iter_init_find(&at, inner, va_arg(r->arguments, const char *)))
            r->is_ok &= bson_append_iter(m->to, m->name, m->size, &at);
        return;
    default: break;
    }
    assert(type == 'd' || type == 'a');
    inner = va_arg(r->arguments, const bson_t *);
    if (!m->is_optional || !bson_empty(inner))
        r->is_ok &= type == 'a' ? bson_append_array(m->to, m->name, m->size, inner)
                                : bson_append_document(m->to, m->name, m->size, inner);
}

static void put_members(reader *r, bson_t *to, char end);

/* Builds the document that follows once for each change of the run. */
static void put_documents(reader *r, const member *m)
{
    bson_t                   items, inner;
    char                     text[16];
    const char              *name = NULL, *begin = r->at;
    const pawl__mongo_scope *outer = r->scope;
    pawl__mongo_scope        one   = *outer;
    r->scope                       = &one;
    r->is_ok &= bson_append_array_begin(m->to, m->name, m->size, &items);
    for (size_t i = 0; i < outer->count; i++) {
        int size   = (int)bson_uint32_to_string((uint32_t)i, &name, text, sizeof text);
        one.change = outer->changes[i];
        r->at      = begin;
        r->is_ok &= bson_append_document_begin(&items, name, size, &inner);
        put_members(r, &inner, '}');
        r->is_ok &= bson_append_document_end(&items, &inner);
    }
    r->is_ok &= bson_append_array_end(m->to, &items);
    r->scope = outer;
}

/* Handles names that are not fields of the change; false: the name is a field's. */
static bool put_special(reader *r, const member *m, pawl_text name)
{
    const pawl__mongo_scope *scope = r->scope;
    int64_t                  number;
    if (pawl_text_equal(name, PAWL_TEXT("worker"))) {
        put(r, m, PAWL__WIRE_UUID, &scope->worker);
        return true;
    }
    if (pawl_text_equal(name, PAWL_TEXT("before")))
        number = *(const int64_t *)value_at(scope, PAWL_TEXT("version")) - 1;
    else if (pawl_text_equal(name, PAWL_TEXT("number")))
        number = (*scope->number)++;
    else if (pawl_text_equal(name, PAWL_TEXT("same")))
        number = *scope->number - 1;
    else
        return false;
    put(r, m, PAWL__WIRE_INT, &number);
    return true;
}

static void put_named(reader *r, const member *m)
{
    const pawl__mongo_scope *scope   = r->scope;
    bool                     is_list = r->at[1] == '@';
    const char              *name    = r->at + 1 + is_list;
    if (*name == '{') {
        r->at = name + 1;
        put_documents(r, m);
        return;
    }
    size_t    size = strcspn(name, " ,}]");
    pawl_text text = {.data = name, .size = size};
    r->at          = name + size;
    if (put_special(r, m, text))
        return;
    const pawl__field     *field = pawl__mongo_field_of(scope->fields, text);
    const pawl__mongo_list list  = {.items  = scope->changes,
                                    .count  = scope->count,
                                    .offset = field->offset,
                                    .wire   = field->wire};
    if (is_list)
        put_list(r, m, &list);
    else
        put(r, m, field->wire, (const char *)scope->change + field->offset);
}

/* ---- Texts --------------------------------------------------------------- */

static void put_items(reader *r, bson_t *to);

static void put_inner(reader *r, const member *m)
{
    bson_t inner    = BSON_INITIALIZER;
    bool   is_array = *r->at++ == '[';
    if (is_array)
        put_items(r, &inner);
    else
        put_members(r, &inner, '}');
    if (!m->is_optional || !bson_empty(&inner))
        r->is_ok &= is_array ? bson_append_array(m->to, m->name, m->size, &inner)
                             : bson_append_document(m->to, m->name, m->size, &inner);
    bson_destroy(&inner);
}

static void put_literal(reader *r, const member *m)
{
    char   *end;
    int64_t integer = strtoll(r->at, &end, 10);
    if (*r->at == '\'') {
        size_t size = strcspn(r->at + 1, "'");
        r->is_ok &= bson_append_utf8(m->to, m->name, m->size, r->at + 1, (int)size);
        r->at += size + 2;
        return;
    }
    if (end == r->at) {
        end += strcspn(r->at, " ,}]");
        r->is_ok &= *r->at == 'n' ? bson_append_null(m->to, m->name, m->size)
                                  : bson_append_bool(m->to, m->name, m->size, *r->at == 't');
    } else {
        r->is_ok &= bson_append_int64(m->to, m->name, m->size, integer);
    }
    r->at = end;
}

static void put_value(reader *r, const member *m)
{
    switch (*r->at) {
    case '{':
    case '[': put_inner(r, m); return;
    case '%': put_argument(r, m); return;
    case '@': put_named(r, m); return;
    default: put_literal(r, m);
    }
}

static void skip(reader *r)
{
    r->at += strspn(r->at, " ,");
}

static void put_items(reader *r, bson_t *to)
{
    char     text[16];
    uint32_t count = 0;
    for (skip(r); *r->at != ']'; skip(r)) {
        member   m    = {.to = to, .is_optional = *r->at == '?'};
        uint32_t size = to->len;
        m.size        = (int)bson_uint32_to_string(count, &m.name, text, sizeof text);
        r->at += m.is_optional;
        put_value(r, &m);
        count += to->len != size;
    }
    r->at++;
}

/* A name with @main or @transitional at its end; false: the saga has no such property. */
static bool put_property(const pawl__mongo_scope *scope, member *m,
                         char name[PAWL__MONGO_PATH_SIZE])
{
    size_t before = (size_t)((const char *)memchr(m->name, '@', (size_t)m->size) - m->name);
    char   property[PAWL__MONGO_PATH_SIZE];
    const pawl_correlation *of =
        m->name[before + 1] == 'm' ? &scope->table->main : &scope->table->transitional;
    pawl__mongo_property(of, property);
    m->size = snprintf(name, PAWL__MONGO_PATH_SIZE, "%.*s%s", (int)before, m->name, property);
    m->name = name;
    return of->type != PAWL_VALUE_NONE;
}

static void put_member(reader *r, bson_t *to)
{
    char   name[PAWL__MONGO_PATH_SIZE];
    bson_t nowhere = BSON_INITIALIZER;
    member m       = {.to = to, .name = r->at};
    if (r->at[0] == '%' && r->at[1] == 'k') {
        m.name = va_arg(r->arguments, const char *);
        m.size = (int)strlen(m.name);
        r->at += 2;
    } else {
        m.size = (int)strcspn(r->at, ":?");
        r->at += m.size;
        if (memchr(m.name, '@', (size_t)m.size) != NULL && !put_property(r->scope, &m, name))
            m.to = &nowhere;
    }
    m.is_optional = *r->at == '?';
    r->at += m.is_optional;
    assert(*r->at == ':');
    r->at += 1 + strspn(r->at + 1, " ");
    put_value(r, &m);
    bson_destroy(&nowhere);
}

static void put_members(reader *r, bson_t *to, char end)
{
    for (skip(r); *r->at != end; skip(r)) {
        if (r->at[0] == '@' && r->at[1] == '*') {
            r->is_ok &= pawl__mongo_encode(to, r->scope->fields, r->scope->change);
            r->at += 2;
        } else if (r->at[0] == '%' && r->at[1] == 'r') {
            const pawl__field_list *fields = va_arg(r->arguments, const pawl__field_list *);
            r->is_ok &= pawl__mongo_encode(to, fields, va_arg(r->arguments, const void *));
            r->at += 2;
        } else if (r->at[0] == '%' && r->at[1] == 'm') {
            r->is_ok &= bson_concat(to, va_arg(r->arguments, const bson_t *));
            r->at += 2;
        } else {
            put_member(r, to);
        }
    }
    r->at += end != '\0';
}

/* ---- Entries ------------------------------------------------------------- */

bool pawl__mongo_put_arguments(bson_t *document, const char *text, va_list arguments)
{
    reader r = {.at = text, .is_ok = true};
    va_copy(r.arguments, arguments);
    put_members(&r, document, '\0');
    va_end(r.arguments);
    return r.is_ok;
}

bool pawl__mongo_put(bson_t *document, const char *text, ...)
{
    va_list arguments;
    va_start(arguments, text);
    bool is_ok = pawl__mongo_put_arguments(document, text, arguments);
    va_end(arguments);
    return is_ok;
}

bool pawl__mongo_put_scope(bson_t *document, const char *text, const pawl__mongo_scope *scope)
{
    reader r = {.at = text, .scope = scope, .is_ok = true};
    put_members(&r, document, '\0');
    return r.is_ok;
}

bool pawl__mongo_push(bson_t *array, uint32_t *count, const char *text, ...)
{
    char   name[16];
    member m = {.to = array};
    reader r = {.at = text, .is_ok = true};
    m.size   = (int)bson_uint32_to_string((*count)++, &m.name, name, sizeof name);
    va_start(r.arguments, text);
    put_value(&r, &m);
    va_end(r.arguments);
    return r.is_ok;
}

void pawl__mongo_property(const pawl_correlation *correlation, char name[PAWL__MONGO_PATH_SIZE])
{
    bool is_there = correlation->type != PAWL_VALUE_NONE;
    (void)snprintf(name, PAWL__MONGO_PATH_SIZE, "%.*s",
                   PAWL_TEXT_ARGS(is_there ? correlation->property : PAWL_TEXT("-")));
    for (char *at = name; *at != '\0'; at++)
        if (*at == '.' || *at == '$' || *at == ',')
            *at = '_';
}

void pawl__mongo_part(const bson_t *document, const char *key, bson_t *part)
{
    bson_iter_t    at;
    const uint8_t *data = NULL;
    uint32_t       size = 0;
    if (bson_iter_init_find(&at, document, key) && BSON_ITER_HOLDS_DOCUMENT(&at))
        bson_iter_document(&at, &size, &data);
    else if (bson_iter_init_find(&at, document, key) && BSON_ITER_HOLDS_ARRAY(&at))
        bson_iter_array(&at, &size, &data);
    if (data == NULL || !bson_init_static(part, data, size))
        bson_init(part);
}
