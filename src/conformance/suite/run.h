/* run.h - runs the contract suite on a fixture: a kind of store that provides an empty store for each case.
 *
 *     for each case: fresh -> make -> case -> handles closed -> drop -> report
 *
 * Threads: one run at a time in a thread; runs share nothing. Time and random numbers are the caller's: the seed is an
 * argument.
 * Tests: tests/contract, tests/system/command_conformance.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CONFORMANCE_RUN_H
#define PAWL_CONFORMANCE_RUN_H

#include "conformance/suite/suite.h"

/* ---- Where cases run ---------------------------------------------------- */

/* Saga tables under one address; their names carry its prefix. `spec` names all tables, for pawl_store_schema. */
typedef struct suite_tables {
    pawl_saga_table        tables[SUITE_TABLE_COUNT];
    const pawl_saga_table *list[SUITE_TABLE_COUNT];
    char                   names[SUITE_TABLE_COUNT][PAWL_NAME_SIZE_MAX];
    pawl_schema_spec       spec;
} suite_tables;

/* `address` is borrowed for as long as the tables are used. */
void suite_tables_make(suite_tables *tables, const suite_address *address);

typedef struct suite_fixture suite_fixture;
struct suite_fixture {
    const char *name;
    void       *context;
    unsigned    rounds; /* of races, at most SUITE_ROUNDS, which 0 stands for */
    /* Writes an address of an empty store. */
    void (*fresh)(const suite_fixture *fixture, unsigned number, suite_address *address);
    /* Creates the tables. NULL: opening creates them. */
    pawl_code (*make)(const suite_fixture *fixture, const suite_address *address,
                      const pawl_schema_spec *spec, pawl_error *error);
    /* Removes all data of the case. May be NULL. */
    pawl_code (*drop)(const suite_fixture *fixture, const suite_address *address,
                      const pawl_schema_spec *spec, pawl_error *error);
};

/* ---- Running ------------------------------------------------------------ */

#define SUITE_RESULTS(X) \
    X(PASS, "pass")      \
    X(FAIL, "fail")      \
    X(NOT_APPLICABLE, "not_applicable")

typedef enum suite_result {
#define SUITE__RESULT(name, text) SUITE_##name,
    SUITE_RESULTS(SUITE__RESULT)
#undef SUITE__RESULT
        SUITE_RESULT_COUNT
} suite_result;

const char *suite_result_name(suite_result result);

/* Result of a case, borrowed during the call. */
typedef struct suite_report {
    const char  *noun;
    const char  *name; /* begins with its items */
    suite_result result;
    const char  *reason; /* empty when it passed */
    unsigned     number; /* from 1, among the selected cases */
    unsigned     count;  /* number of selected cases */
} suite_report;

typedef void suite_report_fn(const suite_report *report, void *context);

typedef struct suite_options {
    const char      *filter; /* runs cases whose "noun: name" contains it; NULL: all */
    uint64_t         seed;   /* of the random cases */
    unsigned         one_of; /* runs one of so many cases, selected by the seed; 0: all */
    suite_report_fn *report; /* after each case */
    suite_report_fn *begin;  /* before each case, without a result; or NULL */
    bool (*is_over)(
        void *context); /* before each case, and in it, by any thread: true ends the run; or NULL */
    void *context;
} suite_options;

/* Returns the number of failed cases. */
unsigned suite_run(const suite_fixture *fixture, const suite_options *options);
/* Returns the number of cases that match the filter. */
unsigned suite_count(const char *filter);
/* Calls `report` for each case without running it. */
void suite_list(suite_report_fn *report, void *context);

/* ---- Items -------------------------------------------------------------- */

/* The numbered behaviours of docs/GUARANTEES.md, in its order. */
typedef struct suite_item {
    char         letter;
    unsigned     number;
    suite_result result; /* PASS: cases prove it; otherwise the reason why no case on a store can */
    const char  *reason;
} suite_item;

#define SUITE_ITEM_COUNT 198

void suite_items_make(suite_item items[SUITE_ITEM_COUNT]);
/* Reads the next item of a case's name, "T4 T5 only due ...", and moves `name` after it. Returns its index, or -1: no
 * item follows. */
int suite_item_next(const char **name);

/* ---- Between the files of the suite ------------------------------------- */

void suite_close_all(suite *s);

#endif
