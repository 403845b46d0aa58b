/* odbc_scripted.h - a store behind the scripted ODBC driver (tests/support/odbc): no server is needed, and each
 * statement has the answer that its test wants.
 *
 *     scripted_open     a store whose script begins with the test's own rules
 *     scripted_mark     calls before it are not compared
 *     scripted_expect   the calls since then, in their order
 *
 * Rules: tests/support/odbc/script.h. Behind those of a test stand those of a store with its tables in which all
 * goes well (scripted_rules).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_CONTRACT_ODBC_SCRIPTED_H
#define PAWL_TESTS_CONTRACT_ODBC_SCRIPTED_H

#include "pawl/store_driver.h"

#include <stdbool.h>
#include <stddef.h>

#define SCRIPTED_NOW INT64_C(1767225600000000)

/* Transactions in the words of a dialect: patterns. */
typedef struct scripted_dialect {
    const char *name;   /* "mysql" */
    const char *driver; /* SQL_DRIVER_NAME */
    const char *rules;
    const char *begin;
    const char *commit;
    const char *rollback;
    const char *save;
    const char *undo;    /* to the savepoint */
    const char *release; /* NULL: it needs no end */
    const char *is_open; /* rules of an application's connection, which is in a transaction */
} scripted_dialect;

typedef struct scripted scripted;
typedef void            scripted_fn(scripted *p);

typedef struct scripted_case {
    scripted_fn *test;
    const char  *word; /* the dialect's name, with options */
} scripted_case;

struct scripted {
    scripted_fn            *test; /* of the row */
    const scripted_dialect *dialect;
    const char             *word; /* behind "dialect=", with options */
    char                    folder[100];
    char                    script[120];
    char                    log[120];
    char                    url[1000];
    int                     count; /* of scripts */
    size_t                  mark;  /* bytes of the log */
    pawl_store             *store;
    pawl_arena             *arena;
    pawl_error              error;
    char                    calls[200000]; /* since the mark, as scripted_calls has read them */
};

/* For cmocka; `*state` is a scripted_case before, and the fixture then. Teardown fails where a statement had no
 * answer, and closes the store. */
int  scripted_setup(void **state);
void scripted_run(void **state);
int  scripted_teardown(void **state);

/* A row of the table. */
#define SCRIPTED_TEST(name, function, word)                                     \
    {                                                                           \
        name, scripted_run, scripted_setup, scripted_teardown, &(scripted_case) \
        {                                                                       \
            function, word                                                      \
        }                                                                       \
    }

/* Writes the script and sets `url`; `more` is put behind its attributes. */
void scripted_write(scripted *p, const char *rules, const char *more);
/* Writes the script, and opens a store. */
pawl_code scripted_try(scripted *p, const char *rules, int64_t deadline_ms);
/* The same, which succeeds, with a worker for the queue "orders"; the calls of it are before the mark. */
void scripted_open(scripted *p, const char *rules, int64_t deadline_ms);
void scripted_close(scripted *p);

void scripted_code(const scripted *p, pawl_code code, pawl_code expected);
void scripted_text(const scripted *p, const char *part);

void        scripted_mark(scripted *p);
const char *scripted_calls(scripted *p);
/* How many calls since the mark fit: "1 run insert*". */
int scripted_count(scripted *p, const char *pattern);
/* How many runs since the mark, of texts that fit, had a parameter bound before them: "insert*". */
int scripted_bound(scripted *p, const char *pattern);
/* How many pieces of values since the mark were read behind the first ones. */
int scripted_pieces(scripted *p);
/* The calls since the mark are these, in their order, and no others: patterns, the last one NULL. Preparing, binding
 * and pieces are left out, and asking a session that rested. */
void scripted_expect(scripted *p, const char *const *patterns);
#define SCRIPTED_EXPECT(p, ...) scripted_expect((p), (const char *const[]){__VA_ARGS__, NULL})

/* Commits one message to "orders". */
pawl_code scripted_send(scripted *p);
/* Commits `count` messages to "orders", each with a body of two bytes. */
pawl_code scripted_send_many(scripted *p, size_t count);
/* Message 7 of "orders" is done, and another one is sent to it. */
pawl_code scripted_settle_and_send(scripted *p);
/* Claims the messages of "orders" that the script has. */
pawl_code scripted_claim(scripted *p, pawl_queue_rows *rows);

#endif
