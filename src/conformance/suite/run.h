/* run.h - runs the contract suite on a ground: a kind of store that can be had
 * empty, once for each case.
 *
 *     for each case: fresh -> make -> case -> handles closed -> drop -> report
 *
 * Threads: one run at a time in a thread; runs do not know of one another.
 * Time and random numbers are the caller's: the seed is an argument.
 * Tests: tests/contract, tests/system/command_conformance.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CONFORMANCE_RUN_H
#define PAWL_CONFORMANCE_RUN_H

#include "conformance/suite/suite.h"

/* ---- Where cases run ---------------------------------------------------- */

/* The saga tables of one address; their names carry its prefix. `spec` names
 * all tables, for pawl_store_schema. */
typedef struct suite_tables {
    pawl_saga_table        tables[SUITE_TABLE_COUNT];
    const pawl_saga_table *list[SUITE_TABLE_COUNT];
    char                   names[SUITE_TABLE_COUNT][PAWL_NAME_SIZE_MAX];
    pawl_schema_spec       spec;
} suite_tables;

/* `address` is borrowed for as long as the tables are used. */
void suite_tables_make(suite_tables *tables, const suite_address *address);

typedef struct suite_ground suite_ground;
struct suite_ground {
    const char *name;
    void       *context;
    unsigned    rounds; /* of races, at most SUITE_ROUNDS; 0: as many */
    /* Writes an address under which nothing is stored. */
    void (*fresh)(const suite_ground *ground, unsigned number, suite_address *address);
    /* Makes the tables. NULL: opening makes them. */
    pawl_code (*make)(const suite_ground *ground, const suite_address *address,
                      const pawl_schema_spec *spec, pawl_error *error);
    /* Removes what the case left there. May be NULL. */
    pawl_code (*drop)(const suite_ground *ground, const suite_address *address,
                      const pawl_schema_spec *spec, pawl_error *error);
};

/* ---- Running ------------------------------------------------------------ */

#define SUITE_RESULTS(X)                                  \
    X(PASS, "pass")                                       \
    X(FAIL, "fail")                                       \
    X(WAITING, "waiting") /* for what is not built yet */ \
    X(NOT_APPLICABLE, "not_applicable")

typedef enum suite_result {
#define SUITE__RESULT(name, text) SUITE_##name,
    SUITE_RESULTS(SUITE__RESULT)
#undef SUITE__RESULT
        SUITE_RESULT_COUNT
} suite_result;

const char *suite_result_name(suite_result result);

/* How one case went. All of it is borrowed for the call. */
typedef struct suite_report {
    const char  *noun;
    const char  *name; /* begins with its items */
    suite_result result;
    const char  *reason; /* empty when it passed */
    unsigned     number; /* from 1, of the chosen cases */
    unsigned     count;  /* how many were chosen */
} suite_report;

typedef void suite_report_fn(const suite_report *report, void *context);

typedef struct suite_options {
    const char *filter; /* the cases whose "noun: name" contains it; NULL: all */
    uint64_t    seed;   /* of the random cases */
    unsigned    one_of; /* of so many cases one is run, which one depends on the seed; 0: all */
    suite_report_fn *report; /* after each case */
    suite_report_fn *begin;  /* before each, without a result; NULL: nobody asks */
    void            *context;
} suite_options;

/* How many cases failed. */
unsigned suite_run(const suite_ground *ground, const suite_options *options);
/* How many cases the filter chooses. */
unsigned suite_count(const char *filter);
/* Calls `report` for each case without running it. */
void suite_list(suite_report_fn *report, void *context);

/* ---- Items -------------------------------------------------------------- */

/* The numbered behaviours of docs/GUARANTEES.md, in its order. */
typedef struct suite_item {
    char         letter;
    unsigned     number;
    suite_result result; /* PASS: cases prove it; else why none does on a store alone */
    const char  *reason;
} suite_item;

#define SUITE_ITEM_COUNT 198

void suite_items_make(suite_item items[SUITE_ITEM_COUNT]);
/* Reads the next item of a case's name, "T4 T5 due rows ...", and moves `name`
 * behind it: its index, or -1 when what follows is no item. */
int suite_item_next(const char **name);

/* ---- Between the files of the suite ------------------------------------- */

void suite_close_all(suite *s);

#endif
