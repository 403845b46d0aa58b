/* oracle_round.c - makes the block of a round, and its JSON parameters: see oracle_round.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/dialects/oracle_round.h"

#include "base/calm.h"
#include "store/sql/value.h"

#include <inttypes.h>
#include <string.h>

#define TEXT_MAX 4000      /* bytes of a text in a set */
#define BYTES_MAX 1900     /* of a body, which travels as hex */
#define STAND_IN "\\u0001" /* pawl__sql_dialect.empty */

/* ---- Items ---------------------------------------------------------------- */

static void append_string(pawl__sql_text *to, pawl_text text, bool has_stand_in)
{
    pawl__sql_append(to, "\"");
    if (has_stand_in && (text.size == 0 || text.data[0] == '\1'))
        pawl__sql_append(to, STAND_IN);
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c < ' ' || c == 0x7F)
            pawl__sql_appendf(to, "\\u%04x", c);
        else if (c == '"' || c == '\\')
            pawl__sql_appendf(to, "\\%c", c);
        else
            pawl__sql_append_text(to, (pawl_text){.data = text.data + i, .size = 1});
    }
    pawl__sql_append(to, "\"");
}

static void append_bytes(pawl__sql_text *to, pawl_text bytes)
{
    pawl__sql_append(to, "\"");
    for (size_t i = 0; i < bytes.size; i++)
        pawl__sql_appendf(to, "%02x", (unsigned char)bytes.data[i]);
    pawl__sql_append(to, "\"");
}

static void append_time(pawl__sql_text *to, pawl_time time)
{
    pawl__sql_date d = pawl__sql_date_of(time);
    pawl__sql_appendf(to, "\"%04d-%02u-%02u %02u:%02u:%02u.%06u\"", d.year, d.month, d.day, d.hour,
                      d.minute, d.second, d.microsecond);
}

/* Appends the value; false: it cannot be part of a set. */
static bool append_value(pawl__sql_text *to, int wire, const pawl_value *value)
{
    char   uuid[PAWL_UUID_TEXT_SIZE + 1];
    size_t bad;
    switch (value->type) {
    case PAWL_VALUE_NONE: pawl__sql_append(to, "null"); return true;
    case PAWL_VALUE_INT: pawl__sql_appendf(to, "%" PRId64, value->as.integer); return true;
    case PAWL_VALUE_TIME: append_time(to, value->as.time); return true;
    case PAWL_VALUE_UUID:
        pawl_uuid_format(value->as.uuid, uuid);
        append_string(to, pawl_text_of(uuid), false);
        return true;
    case PAWL_VALUE_TEXT: break;
    }
    if (wire == PAWL__WIRE_BYTES) {
        append_bytes(to, value->as.text);
        return value->as.text.size <= BYTES_MAX;
    }
    append_string(to, value->as.text, true);
    return value->as.text.size < TEXT_MAX && pawl_text_is_valid(value->as.text, &bad);
}

static bool append_item(pawl__sql_text *to, const pawl__field_list *fields, const void *item)
{
    bool fits = true;
    pawl__sql_append(to, to->size == 0 ? "[[" : ",[");
    for (size_t i = 0; fits && i < fields->count; i++) {
        int        wire  = fields->items[i].wire;
        pawl_value value = pawl__sql_value_of(wire, (const char *)item + fields->items[i].offset);
        pawl__sql_append(to, i != 0 ? "," : "");
        fits = append_value(to, wire, &value);
    }
    pawl__sql_append(to, "]");
    return fits;
}

/* ---- The text of a set ------------------------------------------------------ */

/* The type of a field in the block and in the JSON, and the conversion from JSON. */
typedef struct form {
    const char *type;
    const char *column;
    const char *before;
    const char *behind;
} form;

/* The type of a field. A correlation value has the type of the first item with a value. */
static pawl_value_type type_of(const pawl__field *field, const void *const *items, size_t count)
{
    pawl_value_type type = PAWL_VALUE_NONE;
    for (size_t i = 0; type == PAWL_VALUE_NONE && i < count; i++)
        type = pawl__sql_value_of(field->wire, (const char *)items[i] + field->offset).type;
    return type;
}

static const form *form_of(const pawl__field *field, const void *const *items, size_t count)
{
    static const form number = {"number", "number", "", ""};
    static const form time   = {"timestamp(6)", "varchar2(26)", "to_timestamp(",
                                ", 'YYYY-MM-DD HH24:MI:SS.FF6')"};
    static const form bytes  = {"raw(2000)", "varchar2(4000)", "hextoraw(", ")"};
    static const form text   = {"varchar2(4000)", "varchar2(4000)", "", ""};
    if (field->wire == PAWL__WIRE_BYTES)
        return &bytes;
    switch (type_of(field, items, count)) {
    case PAWL_VALUE_INT: return &number;
    case PAWL_VALUE_TIME: return &time;
    default: return &text;
    }
}

static void append_part(pawl__sql_text *to, const pawl__sql_text *statement,
                        const pawl__field_list *fields, const void *const *items, size_t count)
{
    pawl__sql_append(to, "declare j clob := ?; ");
    for (unsigned i = 1; i <= fields->count; i++)
        pawl__sql_appendf(to, "type t%u is table of %s; p%u t%u; ", i,
                          form_of(&fields->items[i - 1], items, count)->type, i, i);
    pawl__sql_append(to, "begin select ");
    for (unsigned i = 1; i <= fields->count; i++) {
        const form *f = form_of(&fields->items[i - 1], items, count);
        pawl__sql_appendf(to, "%s%sc%u%s", i > 1 ? ", " : "", f->before, i, f->behind);
    }
    pawl__sql_append(to, " bulk collect into ");
    for (unsigned i = 1; i <= fields->count; i++)
        pawl__sql_appendf(to, "%sp%u", i > 1 ? ", " : "", i);
    pawl__sql_append(to, " from json_table(j, '$[*]' error on error columns (n for ordinality");
    for (unsigned i = 1; i <= fields->count; i++)
        pawl__sql_appendf(to, ", c%u %s path '$[%u]'", i,
                          form_of(&fields->items[i - 1], items, count)->column, i - 1);
    pawl__sql_append(to, ")) order by n; forall i in 1 .. p1.count ");
    pawl__sql_append_text(to, pawl__sql_text_of(statement));
    pawl__sql_append(to, "; for i in 1 .. p1.count loop s := s || case sql%bulk_rowcount(i) "
                         "when 0 then 'm' else 'a' end; end loop; end; ");
}

/* The statement of one item, whose parameters are elements of collections. */
static void append_statement(pawl__sql_text *to, const pawl__sql_remote *remote,
                             const pawl__sql_write *write, const void *item)
{
    pawl__sql_dialect dialect = *remote->sql.dialect;
    dialect.parameter         = "p%u(i)";
    if (write->is_saga)
        pawl__sql_saga_text(to, &dialect, pawl__saga_table_of(item),
                            (pawl__sql_saga_statement)write->statement);
    else
        pawl__sql_expand(to, &dialect, remote->sql.base.system_prefix,
                         pawl__sql_template_of(remote->main, write->statement, false));
}

static bool writes(const pawl__sql_text *statement)
{
    static const char *const words[] = {"insert ", "update ", "delete ", "merge "};
    for (size_t i = 0; !statement->is_failed && i < sizeof words / sizeof words[0]; i++)
        if (strncmp(statement->data, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

/* ---- A set ------------------------------------------------------------------ */

/* Appends as many items as fit into the next parameter; returns their number, 0 if the first item does not fit. */
static size_t fill(pawl__sql_text *set, const pawl__sql_write *write, const void *const *items,
                   size_t count)
{
    size_t taken = 0;
    for (; taken < count; taken++) {
        size_t before = set->size;
        bool   fits   = append_item(set, &write->parameters, items[taken]);
        if (!fits || set->size >= PAWL__ORACLE_PARAMETER_MAX) {
            set->size = before;
            break;
        }
    }
    pawl__sql_append(set, "]");
    return taken;
}

static void drop_sets(pawl__oracle_round *round, unsigned set_count, unsigned item_count,
                      size_t size)
{
    while (round->set_count > set_count)
        pawl__sql_text_free(&round->sets[--round->set_count]);
    round->item_count = item_count;
    round->parts.size = size;
}

/* False: there is no room for another set, or the next item cannot be part of one. */
static bool add_sets(pawl__oracle_round *round, const pawl__sql_text *statement,
                     const pawl__sql_write *write, const void *const *items, size_t count)
{
    for (size_t at = 0; at < count;) {
        if (round->set_count == PAWL__ORACLE_SETS_MAX)
            return false;
        pawl__sql_text *set   = &round->sets[round->set_count++];
        size_t          taken = fill(set, write, items + at, count - at);
        if (taken == 0)
            return false;
        append_part(&round->parts, statement, &write->parameters, items, count);
        for (size_t i = 0; i < taken; i++)
            round->is_wanted[round->item_count++] = pawl__sql_expects(write, PAWL__SQL_MISSED);
        at += taken;
        round->parts.is_failed |= set->is_failed;
    }
    return true;
}

/* Adds empty sets to the run that begins at `first`, so that it has 1, 2, 4 and so on: fewer different texts. */
static bool pad_sets(pawl__oracle_round *round, unsigned first, const pawl__sql_text *statement,
                     const pawl__sql_write *write, const void *const *items, size_t count)
{
    for (unsigned own = round->set_count - first; (own & (own - 1)) != 0; own++) {
        if (round->set_count == PAWL__ORACLE_SETS_MAX)
            return false;
        pawl__sql_append(&round->sets[round->set_count++], "[]");
        append_part(&round->parts, statement, &write->parameters, items, count);
    }
    return true;
}

/* Has the block a run of this statement? If so, a new block begins: alternating runs would make new texts. */
static bool has_run(const pawl__oracle_round *round, const pawl__sql_text *statement)
{
    return round->set_count != 0 && !round->parts.is_failed &&
           strstr(round->parts.data, statement->data) != NULL;
}

pawl_code pawl__oracle_round_add(pawl__oracle_round *round, const pawl__sql_remote *remote,
                                 const pawl__sql_write *write, const void *const *items,
                                 size_t count, bool *is_added, pawl_error *error)
{
    const unsigned sets = round->set_count, all = round->item_count;
    const size_t   size      = round->parts.size;
    pawl__sql_text statement = {0};
    pawl_code      code      = PAWL_OK;
    if (write->is_saga)
        code = pawl__sql_saga_check(remote->sql.dialect, pawl__saga_table_of(items[0]), error);
    if (code == PAWL_OK)
        append_statement(&statement, remote, write, items[0]);
    *is_added = code == PAWL_OK && all + count <= PAWL__ORACLE_ITEMS_MAX && writes(&statement) &&
                !has_run(round, &statement) && add_sets(round, &statement, write, items, count) &&
                pad_sets(round, sets, &statement, write, items, count);
    if (!*is_added)
        drop_sets(round, sets, all, size);
    pawl__sql_text_free(&statement);
    return code == PAWL_OK && round->parts.is_failed
               ? pawl__sql_no_memory(&remote->sql.base, "a round", error)
               : code;
}

void pawl__oracle_round_text(const pawl__oracle_round *round, pawl__sql_text *to)
{
    pawl__sql_append(to, "declare s varchar2(4000); r sys_refcursor; begin ");
    pawl__sql_append_text(to, pawl__sql_text_of(&round->parts));
    pawl__sql_append(to, "open r for select s from dual; dbms_sql.return_result(r); end;");
    to->is_failed |= round->parts.is_failed;
}

void pawl__oracle_round_clear(pawl__oracle_round *round)
{
    drop_sets(round, 0, 0, 0);
    pawl__sql_text_free(&round->parts);
    round->had_unexpected = false;
}
