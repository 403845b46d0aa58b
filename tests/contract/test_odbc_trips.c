/* test_odbc_trips.c - trips and parses that a driver and its server are spared, behind a scripted driver: parameters are
 * bound once, long values read in one piece behind the first, timeouts are found by their
 * indexes, and blocks of rounds have few texts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/odbc_scripted.h"
#include "support/tests.h"

#define SCRIPTED_ROW(test, dialect) SCRIPTED_TEST(#test " (" dialect ")", test, dialect)
#define SCRIPTED(test, dialect) TESTS(test, scripted *p, SCRIPTED_ROW(test, dialect))

#define DEADLINE_MS 20000
#define SET 32 /* rows that are written at once */
#define APPLIED "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* ---- Parameters ------------------------------------------------------------ */

static pawl_text fill(scripted *p, size_t size, char letter)
{
    char *text = pawl_arena_take(p->arena, size + 1);
    assert_non_null(text);
    memset(text, letter, size);
    return (pawl_text){.data = text, .size = size};
}

static pawl_code send(scripted *p, size_t count, size_t body_size, size_t headers_size, char letter)
{
    pawl_queue_send *sends   = pawl_arena_take(p->arena, count * sizeof *sends);
    pawl_changes     changes = {.now = SCRIPTED_NOW, ONE_UNIT};
    assert_non_null(sends);
    for (size_t i = 0; i < count; i++)
        sends[i] = (pawl_queue_send){.queue   = PAWL_TEXT("orders"),
                                     .due     = SCRIPTED_NOW + (int64_t)body_size * 1000,
                                     .message = {.id      = pawl_arena_printf(p->arena, "m-%zu", i),
                                                 .type    = PAWL_TEXT("t"),
                                                 .headers = fill(p, headers_size, letter),
                                                 .body    = fill(p, body_size, letter)}};
    changes.queue_send.items = sends;
    changes.queue_send.count = count;
    return pawl_store_commit(p->store, &changes, NULL, &p->error);
}

/* A message of those sizes, and whether its insert had parameters bound before it. */
typedef struct sent {
    size_t body_size;
    size_t headers_size; /* in UTF-16 twice as many bytes */
    bool   is_bound;
} sent;

static void send_all(scripted *p, const sent *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char pattern[200], letter = (char)('a' + i);
        scripted_mark(p);
        scripted_code(p, send(p, 1, all[i].body_size, all[i].headers_size, letter), PAWL_OK);
        snprintf(pattern, sizeof pattern, "1 run insert into *'m-0' 't' '' '' '%c%c*' '%c%c*",
                 letter, letter, letter, letter);
        if (scripted_count(p, pattern) != 1)
            fail_msg("message %zu did not come as it is:\n%s", i, scripted_calls(p));
        if (scripted_bound(p, "insert into *") != all[i].is_bound)
            fail_msg("message %zu was %sbound anew:\n%s", i, all[i].is_bound ? "not " : "",
                     scripted_calls(p));
    }
}

/* FreeTDS makes a trip of its own for a statement whose parameters were bound anew. A place of 64 bytes doubles; a text
 * of more than 4,000 units is of another type, and its parameter stays of it; one over 64 KB has no place. */
SCRIPTED(parameters_are_bound_once, "mssql")
{
    static const sent all[] = {
        {2, 2, true},     {64, 32, false},  {3, 9, false},     {65, 2, true},     {128, 32, false},
        {2, 33, true},    {2, 64, false},   {2, 4000, true},   {2, 3000, false},  {2, 4001, true},
        {2, 2, false},    {2, 4096, false}, {65536, 2, true},  {65535, 2, false}, {65537, 2, true},
        {65537, 2, true}, {2, 2, true},     {65536, 2, false},
    };
    scripted_open(p, "", DEADLINE_MS);
    send_all(p, all, COUNT(all));
    scripted_mark(p);
    scripted_code(p, send(p, 1, 2, 2, 'z'), PAWL_OK);
    assert_int_equal(scripted_bound(p, "*"), 0); /* nor is the fence */
}

SCRIPTED(a_set_is_bound_once, "mssql")
{
    scripted_open(p, "on set nocount on; declare @f*\n row '" APPLIED "'\n", DEADLINE_MS);
    for (char i = 0; i < 3; i++)
        scripted_code(p, send(p, SET, 2, 2, (char)('a' + i)), PAWL_OK);
    assert_int_equal(scripted_count(p, "1 run set nocount on; declare @f*'cc'*'cc'*"), 1);
    assert_int_equal(scripted_bound(p, "set nocount on; declare @f*"), 1);
    scripted_code(p, send(p, SET, 65, 2, 'd'), PAWL_OK);
    assert_int_equal(scripted_bound(p, "set nocount on; declare @f*"), 2);
}

/* The statements of a connection are bound anew with it. */
SCRIPTED(a_new_connection_has_nothing_bound, "mssql")
{
    scripted_open(p,
                  "on insert into *pawl_queue]*\n times 1\n count 1\n"
                  "on insert into *pawl_queue]*\n times 1\n error\n gone\n",
                  DEADLINE_MS);
    scripted_code(p, send(p, 1, 2, 2, 'a'), PAWL_OK);
    scripted_code(p, send(p, 1, 2, 2, 'b'), PAWL_ELOST);
    scripted_mark(p);
    scripted_code(p, send(p, 1, 2, 2, 'c'), PAWL_OK);
    assert_int_equal(scripted_bound(p, "insert into *pawl_queue]*"), 1);
    assert_int_equal(scripted_count(p, "2 run insert into *pawl_queue]*'cc' 'cc'"), 1);
}

/* ---- Long values ------------------------------------------------------------ */

#define TIME "'2026-01-01 00:00:00.000000'"

/* Each further piece of a long value may be a trip. One whose length is told is read in two calls; of one whose length is
 * told at the end each piece is as long as all before it, 64 KB at least. */
TESTS(the_rest_of_a_value_is_one_piece, scripted *p,
      SCRIPTED_ROW(the_rest_of_a_value_is_one_piece, "oracle"),
      SCRIPTED_ROW(the_rest_of_a_value_is_one_piece, "mssql"))
{
    static const struct {
        const char *body;
        size_t      size;
        int         pieces; /* of texts of a byte a character, and of UTF-16 */
        int         wide_pieces;
    } all[] = {
        {"fill:4095", 4095, 0, 1},   {"fill:4096", 4096, 1, 1},   {"fill:100000", 100000, 1, 1},
        {"open:4095", 4095, 0, 1},   {"open:4096", 4096, 1, 1},   {"open:69630", 69630, 1, 2},
        {"open:69631", 69631, 1, 3}, {"open:69632", 69632, 2, 3}, {"open:100000", 100000, 2, 3}};
    bool is_wide = strcmp(p->dialect->name, "mssql") == 0;
    for (size_t i = 0; i < COUNT(all); i++) {
        char            rules[400];
        pawl_queue_rows rows;
        snprintf(
            rules, sizeof rules,
            is_wide
                ? "on select [Seq], [Due]*\n"
                  " row '7' " TIME " " TIME " '0' '0' " TIME " '' 'm-7' 't' '' '' '' %s\n"
                : "on declare cursor c is select /*+ index(q (queue, due, seq)) */ \"SEQ\"*\n count 0\n then\n"
                  " row '7' " TIME " " TIME " '0' '0' " TIME " '' 'm-7' 't' '' '' '' %s\n",
            all[i].body);
        scripted_open(p, rules, DEADLINE_MS);
        scripted_code(p, scripted_claim(p, &rows), PAWL_OK);
        assert_int_equal(rows.count, 1);
        assert_int_equal(rows.items[0].message.body.size, all[i].size);
        for (size_t at = 0; at < all[i].size; at++)
            assert_int_equal(rows.items[0].message.body.data[at], 'a');
        if (scripted_pieces(p) != (is_wide ? all[i].wide_pieces : all[i].pieces))
            fail_msg("%s took %d further pieces", all[i].body, scripted_pieces(p));
    }
}

/* ---- Indexes ---------------------------------------------------------------- */

#define NAMED "[SagaId] between ? and ? and [SagaId] is not null and [Name] <> ''"
#define OWN "[SagaId] between ? and ? and [SagaId] is not null and [Name] = ''"
#define OF_SAGA "*[Id] in (select *" NAMED " union all select *" OWN ")"

/* A claim for any destination names its index, once a look has found a row; a saga's timeouts are asked for by the conditions of theirs. */
SCRIPTED(timeouts_go_by_their_indexes, "mssql")
{
    const pawl_uuid          id      = {{1, 2, 3}};
    const pawl_timeout_claim claim   = {.due_max   = SCRIPTED_NOW,
                                        .count_max = 3,
                                        .owner     = {id},
                                        .now       = SCRIPTED_NOW,
                                        .lease     = 1000000};
    pawl_timeout_cancel      cancel  = {.saga_id = {id}};
    pawl_changes             changes = {
                    .now = SCRIPTED_NOW, ONE_UNIT, .timeout_cancel = {.items = &cancel, .count = 1}};
    pawl_timeout_rows rows;
    scripted_open(p,
                  "on select *index([pawl_timeouts_any])*\n columns 12\n"
                  "on select [Id], [Generation]*from [dbo].[pawl_timeouts] where [Due] <= ?*\n"
                  " row '01020300-0000-0000-0000-000000000000' '1' null 'T' 'n' 'd' " TIME
                  " '' '' '0' null null\n"
                  "on select min([Due])*\n columns 1\n"
                  "on select " OF_SAGA
                  " and [Due] >= ? and ([Due] > ? or [Id] > ?) order by*\n columns 12\n"
                  "on delete from " OF_SAGA "\n count 2\n",
                  DEADLINE_MS);
    scripted_code(p, pawl_store_timeout_claim(p->store, &claim, p->arena, &rows, &p->error),
                  PAWL_OK);
    scripted_code(p,
                  pawl_store_timeout_list(p->store, cancel.saga_id, 5, p->arena, &rows, &p->error),
                  PAWL_OK);
    scripted_code(p, pawl_store_commit(p->store, &changes, NULL, &p->error), PAWL_OK);
    assert_int_equal(
        scripted_count(p, "1 run delete from *<- '01020300*' '01020300*' '01020300*' '01020300*'"),
        1);
}

/* ---- Blocks ---------------------------------------------------------------- */

#define TEXTS_MAX 400
#define BLOCK "* run declare s varchar2(4000)*"

/* Texts of blocks that have been prepared. */
typedef struct texts {
    char  *items[TEXTS_MAX];
    size_t count;
} texts;

static void free_texts(texts *all)
{
    for (size_t i = 0; i < all->count; i++)
        free(all->items[i]);
}

static void add_text(texts *all, const char *block)
{
    size_t size = strcspn(block, "\n");
    for (size_t i = 0; i < all->count; i++)
        if (strlen(all->items[i]) == size && memcmp(all->items[i], block, size) == 0)
            return;
    assert_true(all->count < TEXTS_MAX);
    all->items[all->count++] = strndup(block, size);
}

static void add_texts(scripted *p, texts *all)
{
    for (const char *at = scripted_calls(p); (at = strstr(at, " prepare declare s ")) != NULL; at++)
        add_text(all, at);
}

/* An answer that no round fits would have each done again, item by item. */
static void answers(char *rules, size_t size, size_t count)
{
    snprintf(rules, size, "on declare s varchar2*\n count 0\n then\n row fill:%zu\n", count);
}

/* A server parses each text that is new to it. Messages of 3 to 64 in a round, from 2 to 1,900 bytes: 1, 2, 4 or 8 sets
 * behind the fence. */
SCRIPTED(rounds_have_few_texts, "oracle")
{
    static const size_t sizes[] = {2, 700, 1300, 1900};
    texts               found   = {0};
    size_t              blocks  = 0;
    for (size_t count = 3; count <= 2 * SET; count++) {
        char rules[200];
        answers(rules, sizeof rules, count + 1);
        scripted_open(p, rules, DEADLINE_MS);
        for (size_t i = 0; i < COUNT(sizes); i++)
            scripted_code(p, send(p, count, sizes[i], 2, 'b'), PAWL_OK);
        add_texts(p, &found);
        blocks += (size_t)scripted_count(p, BLOCK);
        assert_int_equal(scripted_count(p, "* run insert*"), 0);
    }
    assert_int_equal(blocks, (2 * SET - 2) * 4);
    assert_int_equal(found.count, 4);
    free_texts(&found);
}

/* 18 sets are as many as 32, for which there is no room behind the fence; of 50 none is one. */
SCRIPTED(a_round_of_many_sets_has_room, "oracle")
{
    static const char fence[] = "on declare s varchar2*\n times 1\n count 0\n then\n row 'a'\n";
    char              rules[400];
    int               used = snprintf(rules, sizeof rules, "%s", fence);
    answers(rules + used, sizeof rules - (size_t)used, 137);
    scripted_open(p, rules, DEADLINE_MS);
    scripted_code(p, send(p, 137, 1900, 2, 'b'), PAWL_OK);
    assert_int_equal(scripted_count(p, BLOCK), 2);
    assert_int_equal(scripted_count(p, "* run insert*"), 0);
    scripted_open(p, fence, DEADLINE_MS);
    scripted_code(p, send(p, 200, 1900, 3900, 'b'), PAWL_OK);
    assert_int_equal(scripted_count(p, BLOCK), 1);
    assert_int_equal(scripted_count(p, "* run insert*"), 200);
}

#define POINTS 12

/* Each bit says whether a projection begins, or goes on: an insert, or an update. */
static pawl_code set_checkpoints(scripted *p, unsigned bits)
{
    pawl_checkpoint_set sets[POINTS];
    pawl_changes        changes = {.now = SCRIPTED_NOW, ONE_UNIT};
    for (unsigned i = 0; i < POINTS; i++)
        sets[i] = (pawl_checkpoint_set){.name = pawl_arena_printf(p->arena, "p-%u", i),
                                        .from = bits >> i & 1,
                                        .to   = 5,
                                        .at   = SCRIPTED_NOW};
    changes.checkpoint_set.items = sets;
    changes.checkpoint_set.count = POINTS;
    return pawl_store_commit(p->store, &changes, NULL, &p->error);
}

/* One after another, in any order: a statement stands once in a block, behind the fence or the other one or first. The answer
 * fits none of the blocks, so that each round is done again, too. */
SCRIPTED(runs_that_alternate_have_few_texts, "oracle")
{
    static const char rules[] = "on insert into \"PAWL_CHECKPOINTS\"*\n count 1\n"
                                "on update \"PAWL_CHECKPOINTS\"*\n count 1\n"
                                "on declare s varchar2*\n count 0\n then\n row 'a'\n";
    texts             found   = {0};
    scripted_open(p, rules, DEADLINE_MS);
    for (unsigned bits = 0; bits < 1 << POINTS; bits += 37) {
        scripted_mark(p);
        scripted_code(p, set_checkpoints(p, bits), PAWL_OK);
        add_texts(p, &found);
        assert_int_equal(scripted_count(p, "* run insert into \"PAWL_CHECKPOINTS\"*") +
                             scripted_count(p, "* run update \"PAWL_CHECKPOINTS\"*"),
                         POINTS);
    }
    assert_in_range(found.count, 4, 8);
    free_texts(&found);
}
