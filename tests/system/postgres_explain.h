/* postgres_explain.h - a statement of the PostgreSQL driver, explained and executed: its plan, and the pages that
 * it touched in each table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_SYSTEM_POSTGRES_EXPLAIN_H
#define PAWL_TESTS_SYSTEM_POSTGRES_EXPLAIN_H

#include "contract/postgres_fixture.h"
#include "system/postgres_plans.h"

#include <yyjson.h>

#define SQL_SIZE 120000

/* A statement of the driver, as it is prepared in a session. */
typedef struct statement {
    char            name[60];
    char            text[6000];
    const plan_row *row; /* NULL: there is none */
    char           *values;
    bool            is_ours; /* reads or writes a table of pawl's */
} statement;

typedef struct session {
    const char *name;
    pawl_store *store;
    const char *schema;
    PGconn     *pg;        /* the driver's own */
    char        plan[400]; /* of one of the statements, as it was planned first */
} session;

static inline void prepare(const session *in, statement *s)
{
    static char sql[SQL_SIZE];
    snprintf(sql, sizeof sql, "prepare %s%s%s%s as %s", s->name,
             s->row->types[0] != '\0' ? "(" : "", s->row->types,
             s->row->types[0] != '\0' ? ")" : "", s->text);
    raw_run(in->pg, sql);
}

/* NULL: it did not end in time, or failed. */
static inline yyjson_doc *explain(const session *in, const statement *s, const char *options,
                                  const char *values)
{
    static char sql[SQL_SIZE];
    bool        has_values = s->row->types[0] != '\0';
    snprintf(sql, sizeof sql, "explain (format json%s) execute %s%s%s%s", options, s->name,
             has_values ? "(" : "", has_values ? values : "", has_values ? ")" : "");
    PGresult *result = PQexec(in->pg, sql);
    if (PQresultStatus(result) != PGRES_TUPLES_OK) {
        printf("%s: %s: %s", in->name, s->name, PQerrorMessage(in->pg));
        PQclear(result);
        return NULL;
    }
    const char *text = PQgetvalue(result, 0, 0);
    yyjson_doc *doc  = yyjson_read(text, strlen(text), 0);
    assert_non_null(doc);
    PQclear(result);
    return doc;
}

typedef struct look {
    const session   *in;
    const statement *of;
    bool             is_quiet;
    double           rows; /* looked at by scans */
    unsigned         bad;
} look;

static inline const char *text_of(yyjson_val *node, const char *key)
{
    const char *text = yyjson_get_str(yyjson_obj_get(node, key));
    return text != NULL ? text : "";
}

static inline double number_of(yyjson_val *node, const char *key)
{
    yyjson_val *value = yyjson_obj_get(node, key);
    return value != NULL ? yyjson_get_num(value) : 0;
}

/* Of all loops together. */
static inline double rows_of(yyjson_val *node)
{
    return number_of(node, "Actual Rows") * number_of(node, "Actual Loops");
}

static inline void complain(look *l, const char *what, const char *where, double number)
{
    if (!l->is_quiet)
        printf("%s: %s: %s %s %.0f\n", l->in->name, l->of->name, what, where, number);
    l->bad++;
}

/* Tables that are filled with many rows, not workers, leases, checkpoints and the
 * catalog. */
static inline bool is_large(const char *table)
{
    static const char *const small[] = {"pawl_workers", "pawl_leases", "pawl_schema",
                                        "pawl_checkpoints"};
    for (size_t i = 0; i < COUNT(small); i++)
        if (strncmp(small[i], table, strlen(small[i])) == 0) /* and its indexes */
            return false;
    return strncmp(table, "pawl_", 5) == 0 || strncmp(table, "shop_", 5) == 0;
}

/* A statement in no order that ends at so many rows may read the first of the table itself. */
static inline void look_at_scan(look *l, yyjson_val *node, const char *type)
{
    bool is_index = strstr(type, "Index") != NULL;
    if (strcmp(type, "Seq Scan") == 0 && (!l->of->row->scans || l->of->row->rows == 0))
        complain(l, "scans", text_of(node, "Relation Name"), rows_of(node));
    if (is_index && yyjson_obj_get(node, "Index Cond") == NULL && !l->of->row->scans)
        complain(l, "scans through", text_of(node, "Index Name"), rows_of(node));
    l->rows += rows_of(node);
    l->rows += number_of(node, "Rows Removed by Filter") * number_of(node, "Actual Loops");
}

static inline void look_at_node(look *l, yyjson_val *node)
{
    const char *type   = text_of(node, "Node Type");
    yyjson_val *inner  = yyjson_obj_get(node, "Plans");
    size_t      number = 0, count = 0;
    yyjson_val *plan;
    if (strstr(type, "Scan") != NULL &&
        (is_large(text_of(node, "Relation Name")) || is_large(text_of(node, "Index Name"))))
        look_at_scan(l, node, type);
    yyjson_arr_foreach(inner, number, count, plan)
    {
        if (strstr(type, "Sort") != NULL && rows_of(plan) > ROWS_MAX)
            complain(l, "sorts", "rows", rows_of(plan));
        l->rows += number_of(node, "Rows Removed by Join Filter") * (number == 0);
        look_at_node(l, plan);
    }
}

/* Pages of tables and indexes that the transaction asked for so far. */
static inline int64_t pages_touched(PGconn *pg, const char *schema)
{
    char sql[300];
    snprintf(sql, sizeof sql,
             "select sum(pg_stat_get_xact_blocks_fetched(oid)) from pg_class "
             "where relnamespace = '\"%s\"'::regnamespace",
             schema);
    return raw_number(pg, sql);
}

static inline unsigned look_at(const session *in, const statement *s, bool is_last)
{
    look l        = {.in = in, .of = s, .is_quiet = !is_last};
    int  rows_max = s->row->rows != 0 ? s->row->rows : ROWS_MAX;
    raw_run(in->pg, "begin");
    int64_t     before = pages_touched(in->pg, in->schema);
    yyjson_doc *doc    = explain(in, s, ", analyze, timing off, summary off", s->values);
    int64_t     count  = doc != NULL ? pages_touched(in->pg, in->schema) - before : 0;
    raw_run(in->pg, "rollback");
    if (doc == NULL)
        return 1;
    yyjson_val *plan = yyjson_obj_get(yyjson_arr_get_first(yyjson_doc_get_root(doc)), "Plan");
    assert_non_null(plan);
    look_at_node(&l, plan);
    if (l.rows > rows_max)
        complain(&l, "looks at", "rows", l.rows);
    if (count > s->row->blocks)
        complain(&l, "touches", "pages", (double)count);
    if ((l.bad != 0 && is_last) || getenv("PAWL_TEST_SHOW") != NULL) {
        char *text = yyjson_val_write(plan, YYJSON_WRITE_PRETTY, NULL);
        printf("%s\n%s\n", s->text, text != NULL ? text : "");
        free(text);
    }
    if (getenv("PAWL_TEST_SHOW") != NULL)
        printf("= %s %s pages %lld of %d rows %.0f\n", in->name, s->name, (long long)count,
               s->row->blocks, l.rows);
    yyjson_doc_free(doc);
    return l.bad;
}

/* Rows that were rolled back before are in the way once: a scan that meets it marks it. */
static inline bool is_good(const session *in, const statement *s)
{
    return look_at(in, s, false) == 0 || look_at(in, s, true) == 0;
}

#endif
