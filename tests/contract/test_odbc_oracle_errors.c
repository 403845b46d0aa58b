/* test_odbc_oracle_errors.c - each failure that is known of an Oracle server, behind the scripted ODBC driver: its code,
 * and the state in which it leaves the transaction, by the calls that follow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/odbc_scripted.h"
#include "support/tests.h"

#define SCRIPTED(function) \
    TESTS(function, scripted *p, SCRIPTED_TEST(#function, function, "oracle"))

#define DEADLINE_MS 20000
#define SHORT_MS 2000
#define TIME "'2026-01-01 00:00:00.000000'"
#define BEGIN "* run declare i varchar2*"
#define FENCE "* run update \"PAWL_WORKERS\" set \"LASTCOMMIT\"*"
#define SEND "* run insert into \"PAWL_QUEUE\"*"

/* ---- Failures -------------------------------------------------------------- */

typedef enum left { STATEMENT, TRANSACTION, CONNECTION } left;

typedef struct failure {
    int       number;
    pawl_code code;
    left      leaves;
} failure;

#define READ_ONLY 16000 /* the server refuses before it begins */

static const failure failures[] = {
    {18, PAWL_EUNREACHABLE, CONNECTION},
    {20, PAWL_EUNREACHABLE, CONNECTION},
    {28, PAWL_ELOST, CONNECTION},
    {31, PAWL_ELOST, CONNECTION},
    {51, PAWL_EBUSY, STATEMENT},
    {54, PAWL_EBUSY, STATEMENT},
    {60, PAWL_EBUSY, TRANSACTION},
    {603, PAWL_ELOST, CONNECTION},
    {904, PAWL_ESCHEMA, STATEMENT},
    {942, PAWL_ESCHEMA, STATEMENT},
    {1000, PAWL_ELIMIT, STATEMENT},
    {1012, PAWL_ELOST, CONNECTION},
    {1013, PAWL_ETIMEOUT, STATEMENT},
    {1017, PAWL_EDENIED, CONNECTION},
    {1031, PAWL_EDENIED, STATEMENT},
    {1033, PAWL_EUNREACHABLE, CONNECTION},
    {1034, PAWL_EUNREACHABLE, CONNECTION},
    {1035, PAWL_EDENIED, CONNECTION},
    {1045, PAWL_EDENIED, CONNECTION},
    {1089, PAWL_ELOST, CONNECTION},
    {1092, PAWL_ELOST, CONNECTION},
    {1109, PAWL_EUNREACHABLE, CONNECTION},
    {1400, PAWL_EINVAL, STATEMENT},
    {1407, PAWL_EINVAL, STATEMENT},
    {1438, PAWL_EINVAL, STATEMENT},
    {1461, PAWL_ELIMIT, STATEMENT},
    {1536, PAWL_EFULL, STATEMENT},
    {1555, PAWL_EBUSY, STATEMENT},
    {1578, PAWL_ENOTSTORE, STATEMENT},
    {1591, PAWL_EBUSY, STATEMENT},
    {1653, PAWL_EFULL, STATEMENT},
    {1654, PAWL_EFULL, STATEMENT},
    {1691, PAWL_EFULL, STATEMENT},
    {2014, PAWL_EUNSUPPORTED, STATEMENT},
    {2049, PAWL_EBUSY, STATEMENT},
    {2091, PAWL_ECONFLICT, TRANSACTION},
    {2391, PAWL_EUNREACHABLE, CONNECTION},
    {2396, PAWL_ELOST, CONNECTION},
    {2399, PAWL_ELOST, CONNECTION},
    {3113, PAWL_ELOST, CONNECTION},
    {3114, PAWL_ELOST, CONNECTION},
    {3135, PAWL_ELOST, CONNECTION},
    {4020, PAWL_EBUSY, STATEMENT},
    {4021, PAWL_EBUSY, STATEMENT},
    {6502, PAWL_EINVAL, STATEMENT},
    {6550, PAWL_ESCHEMA, STATEMENT},
    {8177, PAWL_EBUSY, TRANSACTION},
    {12154, PAWL_ECONFIG, CONNECTION},
    {12170, PAWL_EUNREACHABLE, CONNECTION},
    {12505, PAWL_ENOTSTORE, CONNECTION},
    {12514, PAWL_ENOTSTORE, CONNECTION},
    {12516, PAWL_EUNREACHABLE, CONNECTION},
    {12519, PAWL_EUNREACHABLE, CONNECTION},
    {12520, PAWL_EUNREACHABLE, CONNECTION},
    {12528, PAWL_EUNREACHABLE, CONNECTION},
    {12535, PAWL_EUNREACHABLE, CONNECTION},
    {12537, PAWL_ELOST, CONNECTION},
    {12541, PAWL_EUNREACHABLE, CONNECTION},
    {12543, PAWL_EUNREACHABLE, CONNECTION},
    {12545, PAWL_EUNREACHABLE, CONNECTION},
    {12547, PAWL_ELOST, CONNECTION},
    {12560, PAWL_EUNREACHABLE, CONNECTION},
    {12570, PAWL_ELOST, CONNECTION},
    {12571, PAWL_ELOST, CONNECTION},
    {12609, PAWL_ELOST, CONNECTION},
    {12899, PAWL_EINVAL, STATEMENT},
    {READ_ONLY, PAWL_EUNREACHABLE, CONNECTION},
    {24816, PAWL_ELIMIT, STATEMENT},
    {25402, PAWL_EBUSY, TRANSACTION},
    {25408, PAWL_ELOST, CONNECTION},
    {28000, PAWL_EDENIED, CONNECTION},
    {28001, PAWL_EDENIED, CONNECTION},
    {28759, PAWL_ECONFIG, CONNECTION},
    {28860, PAWL_EUNREACHABLE, CONNECTION},
    {29024, PAWL_EUNREACHABLE, CONNECTION},
    {30006, PAWL_EBUSY, STATEMENT},
    {30036, PAWL_EFULL, STATEMENT},
    {30926, PAWL_EBUSY, TRANSACTION},
    {38104, PAWL_EPERSIST, STATEMENT},
    {40441, PAWL_EINVAL, STATEMENT},
    {99999, PAWL_EPERSIST, STATEMENT},
};

static const char *rules_for(const char *statement, const failure *f, const char *more)
{
    static char rules[1000];
    snprintf(rules, sizeof rules, "%son %s\n times 1\n error HY000 %d ORA-%05d: failed\n", more,
             statement, f->number, f->number);
    return rules;
}

static void check_code(const scripted *p, const failure *f, pawl_code code, pawl_code expected)
{
    if (code != expected)
        fail_msg("ORA-%05d is %s, expected %s: %s", f->number, pawl_code_name(code),
                 pawl_code_name(expected), p->error.text);
}

/* A transaction that the server undid, or is about to, is done again, whole; behind any other failure nothing of the
 * transaction is there, and the store is as good as before. */
SCRIPTED(d37_a_failure_in_a_commit)
{
    for (size_t i = 0; i < COUNT(failures); i++) {
        const failure *f        = &failures[i];
        bool           is_again = f->code == PAWL_EBUSY;
        scripted_open(p, rules_for("insert into \"PAWL_QUEUE\"*", f, ""), DEADLINE_MS);
        check_code(p, f, scripted_send(p), is_again ? PAWL_OK : f->code);
        if (f->leaves == CONNECTION)
            SCRIPTED_EXPECT(p, BEGIN, FENCE, SEND);
        else if (is_again)
            SCRIPTED_EXPECT(p, BEGIN, FENCE, SEND, "1 run rollback", BEGIN, FENCE, SEND,
                            "1 run commit");
        else
            SCRIPTED_EXPECT(p, BEGIN, FENCE, SEND, "1 run rollback");
        scripted_mark(p);
        scripted_code(p, scripted_send(p), PAWL_OK);
        assert_int_equal(scripted_count(p, "2 connect *"), f->leaves == CONNECTION);
    }
}

/* A commit whose end nobody knows is asked for by the fence row. */
SCRIPTED(o32_a_failure_at_the_commit)
{
    for (size_t i = 0; i < COUNT(failures); i++) {
        const failure *f = &failures[i];
        bool           is_unknown =
            (f->leaves == CONNECTION && f->number != READ_ONLY) || f->code == PAWL_ETIMEOUT;
        pawl_code expected = f->code == PAWL_EBUSY ? PAWL_OK : f->code;
        scripted_open(p,
                      rules_for("commit", f,
                                "on select \"EPOCH\", \"LASTCOMMIT\"*\n times 1\n row '1' null\n"
                                "on select \"EPOCH\", \"LASTCOMMIT\"*\n"
                                " row '2' '00000000-0000-0001-0000-000000000001'\n"
                                "on commit\n times 1\n"),
                      DEADLINE_MS);
        check_code(p, f, scripted_send(p), is_unknown ? PAWL_OK : expected);
        assert_int_equal(
            scripted_count(p, "* run update \"PAWL_WORKERS\" set \"EPOCH\" = \"EPOCH\" + 1*"),
            is_unknown);
        assert_int_equal(scripted_count(p, SEND), f->code == PAWL_EBUSY && !is_unknown ? 2 : 1);
    }
}

/* ---- Merges ------------------------------------------------------------------ */

#define MERGED(table) "on merge into \"PAWL_" table "\"*\n"
#define RACED(table) MERGED(table) " times 1\n error 23000 1 ORA-00001: unique constraint\n"

/* Another transaction inserted the row while the merge waited: it is merged into, which locks it. */
SCRIPTED(a_merge_that_another_was_faster_than_is_done_again)
{
    scripted_open(
        p,
        "on insert into \"PAWL_AGGREGATOR\"*\n count 1\n" RACED("AGGREGATOR_FLUSH")
            MERGED("AGGREGATOR_FLUSH") " count 1\n" RACED("WORKERS")
                MERGED("WORKERS") " count 1\non delete from \"PAWL_WORKERS\"*\n count 1\n"
                                  "on update \"PAWL_TIMEOUTS\"*\non update \"PAWL_AGGREGATOR\"*\n"
                                  "on delete from \"PAWL_LEASES\"*\n",
        DEADLINE_MS);
    scripted_code(
        p,
        pawl_store_commit(p->store,
                          ONE_CHANGE(aggregator_add, SCRIPTED_NOW, .name = PAWL_TEXT("Bills"),
                                     .partition = PAWL_TEXT("Bills/1"), .key = PAWL_TEXT("m-1"),
                                     .message = {.id = PAWL_TEXT("m-1"), .type = PAWL_TEXT("t")},
                                     .at = SCRIPTED_NOW, .due = SCRIPTED_NOW),
                          NULL, &p->error),
        PAWL_OK);
    assert_int_equal(scripted_count(p, "1 run merge into \"PAWL_AGGREGATOR_FLUSH\"*"), 2);
    assert_int_equal(scripted_count(p, "1 run rollback"), 0);
    scripted_code(p, pawl_store_worker_close(p->store, SCRIPTED_NOW, &p->error), PAWL_OK);
    assert_int_equal(scripted_count(p, "1 run merge into \"PAWL_WORKERS\"*"), 3);
    assert_int_equal(scripted_count(p, "1 run rollback"), 0);
}

/* ---- Pieces ------------------------------------------------------------------ */

/* A driver that splits no character of UTF-8 gives a byte less than there is room for. */
SCRIPTED(a_piece_may_be_less_than_its_room)
{
    static const struct {
        const char *body;
        size_t      size;
    } bodies[] = {{"pairs:4094", 4094},          {"pairs:4096", 4096},
                  {"pairs:400000", 400000},      {"open-pairs:4094", 4094},
                  {"open-pairs:4096", 4096},     {"open-pairs:69630", 69630},
                  {"open-pairs:400000", 400000}, {"nul:100000", 0}};
    for (size_t i = 0; i < COUNT(bodies); i++) {
        pawl_queue_rows rows;
        scripted_open(p,
                      test_text("on declare cursor c is select *\n count 0\n then\n row '7' " TIME
                                " " TIME " '0' '0' " TIME " null 'm-7' 't' 'c' 'd' 'h' %s\n",
                                bodies[i].body),
                      DEADLINE_MS);
        scripted_code(p, scripted_claim(p, &rows), bodies[i].size != 0 ? PAWL_OK : PAWL_EPERSIST);
        if (bodies[i].size == 0)
            break;
        assert_int_equal(rows.items[0].message.body.size, bodies[i].size);
        for (size_t at = 0; at < bodies[i].size; at += 2)
            assert_memory_equal(rows.items[0].message.body.data + at, "\xC3\xA9", 2);
    }
}

/* ---- A link that was given up ----------------------------------------------- */

/* The next send makes another connection. */
static void give_up(scripted *p, const char *error, const char *more)
{
    scripted_open(p,
                  test_text("on insert into \"PAWL_QUEUE\"*\n times 1\n error %s\n%s", error, more),
                  SHORT_MS);
    assert_int_not_equal(scripted_send(p), PAWL_OK);
    SCRIPTED_EXPECT(p, BEGIN, FENCE, SEND);
    scripted_mark(p);
    scripted_code(p, scripted_send(p), PAWL_OK);
    assert_int_equal(scripted_count(p, "2 connect *"), 1);
}

/* The half of a commit that was sent is open there, and a goodbye would commit it. */
SCRIPTED(what_is_open_on_a_link_that_was_given_up_is_undone)
{
    give_up(p, "HYT00 0 Timeout expired", "");
    assert_int_equal(scripted_count(p, "1 mode *"), 0);
    assert_int_equal(scripted_count(p, "1 run rollback"), 1);
    assert_int_equal(scripted_count(p, "1 end rollback"), 1);
    assert_non_null(strstr(strstr(scripted_calls(p), "1 end rollback"), "1 disconnect"));
}

SCRIPTED(a_link_that_is_dead_is_asked_for_nothing)
{
    give_up(p, "HY000 3113 ORA-03113: end of file", " gone\n");
    assert_int_equal(scripted_count(p, "1 run *"), 0);
    assert_int_equal(scripted_count(p, "1 end *"), 0);
}

/* A server that says nothing to the rollback either. */
SCRIPTED(a_link_that_is_left_is_waited_for_no_longer_than_a_call)
{
    give_up(p, "HYT00 0 Timeout expired",
            "on rollback\n blocks\n error HY008 1013 ORA-01013: cancelled\n");
    assert_true(scripted_count(p, "1 cancel *") >= 1);
    assert_int_equal(scripted_count(p, "1 end *"), 0);
    scripted_close(p);
    scripted_open(p, "on rollback\n blocks\n error HY008 1013 ORA-01013: cancelled\n", SHORT_MS);
    scripted_code(p, scripted_send(p), PAWL_OK);
    scripted_close(p);
    assert_true(scripted_count(p, "1 cancel *") >= 1);
}
