/* find_match.c - the conditions of `pawl find`, and whether a message meets them.
 *
 * A member is found by its path. A step is the name of a member; an array on the way, and at the end, is looked
 * through element by element. A member whose own name has dots in it is found as well:
 *
 *     of.trip=3      {"of":{"trip":3}}  {"of":[{"trip":1},{"trip":3}]}  {"of.trip":"3"}  {"of":{"trip":[2,3]}}
 *
 * The operator may not know whether a number was sent as a number or as a text: 4711 finds both, "4711" in
 * quotes only the text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/message/find.h"

#include <string.h>

#define READ_FLAGS YYJSON_READ_BIGNUM_AS_RAW /* long numbers are compared exactly, not rounded */

/* ---- Reading the words --------------------------------------------------- */

static const struct part_name {
    const char     *name;
    bool            is_prefix; /* behind it stands a name */
    pawl__find_part part;
} part_names[] = {
    {"body:", true, PAWL__FIND_BODY},
    {"causation", false, PAWL__FIND_CAUSATION},
    {"correlation", false, PAWL__FIND_CORRELATION},
    {"header:", true, PAWL__FIND_HEADER},
    {"id", false, PAWL__FIND_ID},
    {"type", false, PAWL__FIND_TYPE},
};

/* The part of a message that is named, and the name within it. */
static void split_name(pawl_text name, pawl__find_condition *condition)
{
    *condition = (pawl__find_condition){.part = PAWL__FIND_BODY, .name = name};
    for (size_t i = 0; i < sizeof part_names / sizeof part_names[0]; i++) {
        const struct part_name *row   = &part_names[i];
        size_t                  size  = strlen(row->name);
        bool                    is_it = row->is_prefix ? name.size >= size : name.size == size;
        if (!is_it || memcmp(name.data, row->name, size) != 0)
            continue;
        condition->part = row->part;
        condition->name = (pawl_text){.data = name.data + size, .size = name.size - size};
    }
}

static pawl_code check_path(pawl_text path, pawl_error *error)
{
    size_t steps = 1;
    for (size_t i = 0; i < path.size; i++) {
        bool is_dot = path.data[i] == '.';
        if (is_dot && (i == 0 || i + 1 == path.size || path.data[i + 1] == '.'))
            return pawl_error_set(error, PAWL_EINVAL, "%.*s: a step of the path is empty",
                                  PAWL_TEXT_ARGS(path));
        steps += is_dot;
    }
    if (steps > PAWL__FIND_STEPS_MAX)
        return pawl_error_set(error, PAWL_EINVAL, "the path of a member has %zu steps, limit %d",
                              steps, PAWL__FIND_STEPS_MAX);
    return PAWL_OK;
}

/* Parses a number, true, false, null or a text in quotes; NULL for other values, which are compared as text. */
static yyjson_doc *scalar_of(pawl_text value)
{
    yyjson_doc *doc =
        yyjson_read_opts((char *)(uintptr_t)value.data, value.size, READ_FLAGS, NULL, NULL);
    if (!yyjson_is_ctn(yyjson_doc_get_root(doc)))
        return doc;
    yyjson_doc_free(doc);
    return NULL;
}

static pawl_code read_word(const char *word, pawl__find_condition *condition, pawl_error *error)
{
    const char *equal = strchr(word, '=');
    pawl_code   code  = pawl__text_check("NAME=VALUE", word, error);
    if (code != PAWL_OK)
        return code;
    if (equal == NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "'%.100s' has no '=': give NAME=VALUE, as customer_id=4711, "
                              "header:tenant=acme or correlation=ID",
                              word);
    split_name((pawl_text){.data = word, .size = (size_t)(equal - word)}, condition);
    condition->value = pawl_text_of(equal + 1);
    bool has_name    = condition->part == PAWL__FIND_BODY || condition->part == PAWL__FIND_HEADER;
    if (has_name && condition->name.size == 0)
        return pawl_error_set(error, PAWL_EINVAL, "NAME=VALUE: the name before '=' is empty");
    if (condition->value.size == 0)
        return pawl_error_set(error, PAWL_EINVAL, "%.*s: the value is empty", (int)(equal - word),
                              word);
    if (condition->part != PAWL__FIND_BODY)
        return PAWL_OK;
    condition->json = scalar_of(condition->value);
    return check_path(condition->name, error);
}

pawl_code pawl__find_read(const pawl__texts *words, pawl__find_conditions *conditions,
                          pawl_error *error)
{
    pawl_code code    = PAWL_OK;
    conditions->count = 0;
    for (size_t i = 0; code == PAWL_OK && i < words->count; i++) {
        conditions->items[conditions->count] = (pawl__find_condition){.json = NULL};
        code = read_word(words->items[i], &conditions->items[conditions->count++], error);
    }
    if (code == PAWL_OK && conditions->count == 0)
        code = pawl_error_set(error, PAWL_EINVAL,
                              "pawl find needs NAME=VALUE: customer_id=4711, of.trip=3, "
                              "header:tenant=acme, correlation=ID, type=TYPE");
    return code;
}

void pawl__find_free(pawl__find_conditions *conditions)
{
    for (size_t i = 0; i < conditions->count; i++)
        yyjson_doc_free(conditions->items[i].json);
    conditions->count = 0;
}

/* ---- Members of the body ------------------------------------------------- */

static bool is_same_number(yyjson_val *left, yyjson_val *right)
{
    if (yyjson_is_int(left) && yyjson_is_int(right))
        return yyjson_is_uint(left) == yyjson_is_uint(right) &&
               yyjson_get_uint(left) == yyjson_get_uint(right);
    return yyjson_get_num(left) == yyjson_get_num(right);
}

/* Compares a text, or a long number, which is kept as it is written. */
static bool is_same_text(yyjson_val *value, pawl_text text)
{
    const char *data = yyjson_is_raw(value) ? yyjson_get_raw(value) : yyjson_get_str(value);
    return pawl_text_equal((pawl_text){.data = data, .size = yyjson_get_len(value)}, text);
}

static bool is_same(const pawl__find_condition *condition, yyjson_val *value)
{
    yyjson_val *wanted = yyjson_doc_get_root(condition->json);
    if (yyjson_is_str(value))
        return yyjson_is_str(wanted)
                   ? is_same_text(value, (pawl_text){.data = yyjson_get_str(wanted),
                                                     .size = yyjson_get_len(wanted)})
                   : is_same_text(value, condition->value);
    if (yyjson_is_num(value) && yyjson_is_num(wanted))
        return is_same_number(value, wanted);
    if (yyjson_is_raw(value))
        return yyjson_is_raw(wanted) && is_same_text(value, condition->value);
    return value != NULL && !yyjson_is_ctn(value) &&
           yyjson_get_tag(value) == yyjson_get_tag(wanted);
}

static bool is_in(const pawl__find_condition *condition, yyjson_val *value, pawl_text path,
                  size_t depth)
{
    yyjson_val     *item;
    yyjson_arr_iter items;
    if (yyjson_is_arr(value) && depth > 0 && yyjson_arr_iter_init(value, &items)) {
        while ((item = yyjson_arr_iter_next(&items)) != NULL)
            if (is_in(condition, item, path, depth - 1))
                return true;
        return false;
    }
    if (path.size == 0)
        return is_same(condition, value);
    if (!yyjson_is_obj(value) || depth == 0)
        return false;
    const char *dot  = memchr(path.data, '.', path.size);
    size_t      size = dot != NULL ? (size_t)(dot - path.data) : path.size;
    yyjson_val *next = yyjson_obj_getn(value, path.data, path.size);
    if (next != NULL && is_in(condition, next, (pawl_text){0}, depth - 1))
        return true;
    next = dot != NULL ? yyjson_obj_getn(value, path.data, size) : NULL;
    return next != NULL &&
           is_in(condition, next, (pawl_text){.data = dot + 1, .size = path.size - size - 1},
                 depth - 1);
}

/* Compares members of the body. It is empty for events that keep no body: they do not match. */
static pawl__find_verdict match_body(const pawl__find_conditions *conditions, pawl_text body)
{
    yyjson_doc *doc   = NULL;
    bool        holds = true;
    if (body.size == 0)
        return PAWL__FIND_NO;
    doc = yyjson_read_opts((char *)(uintptr_t)body.data, body.size, READ_FLAGS, NULL, NULL);
    if (doc == NULL)
        return PAWL__FIND_UNREADABLE;
    for (size_t i = 0; holds && i < conditions->count; i++)
        if (conditions->items[i].part == PAWL__FIND_BODY)
            holds = is_in(&conditions->items[i], yyjson_doc_get_root(doc),
                          conditions->items[i].name, 2 * PAWL__FIND_STEPS_MAX);
    yyjson_doc_free(doc);
    return holds ? PAWL__FIND_YES : PAWL__FIND_NO;
}

/* ---- The message --------------------------------------------------------- */

static bool has_header(const pawl__find_condition *condition, pawl_text headers)
{
    yyjson_doc *doc =
        headers.size == 0 ? NULL : yyjson_read(headers.data, headers.size, YYJSON_READ_NOFLAG);
    yyjson_val *value =
        yyjson_obj_getn(yyjson_doc_get_root(doc), condition->name.data, condition->name.size);
    bool is_it = yyjson_is_str(value) && is_same_text(value, condition->value);
    yyjson_doc_free(doc);
    return is_it;
}

static bool is_met(const pawl__find_condition *condition, const pawl_message *message)
{
    switch (condition->part) {
    case PAWL__FIND_HEADER: return has_header(condition, message->headers);
    case PAWL__FIND_ID: return pawl_text_equal(condition->value, message->id);
    case PAWL__FIND_TYPE: return pawl_text_equal(condition->value, message->type);
    case PAWL__FIND_CORRELATION: return pawl_text_equal(condition->value, message->correlation_id);
    case PAWL__FIND_CAUSATION: return pawl_text_equal(condition->value, message->causation_id);
    case PAWL__FIND_BODY: break;
    }
    return true;
}

pawl__find_verdict pawl__find_match(const pawl__find_conditions *conditions,
                                    const pawl_message          *message)
{
    bool has_body = false;
    for (size_t i = 0; i < conditions->count; i++) {
        has_body = has_body || conditions->items[i].part == PAWL__FIND_BODY;
        if (!is_met(&conditions->items[i], message))
            return PAWL__FIND_NO;
    }
    return has_body ? match_body(conditions, message->body) : PAWL__FIND_YES;
}
