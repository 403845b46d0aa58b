/* pause.c - pausing and resuming queues.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"
#include "pawl/operations.h"

#include <string.h>

#define ANN TEXT("ann")
#define BEN TEXT("ben")
#define LINE TEXT("line")
#define LONG_SIZE 199 /* makes "pawl.queue/NAME" too long for a stream */

static pawl_queue_pause find(suite *s, pawl_store *store, pawl_text queue)
{
    pawl_queue_pause pause;
    EXPECT_OK(s, pawl_store_queue_pause_find(store, queue, s->arena, &pause, &s->error));
    return pause;
}

static void pause(suite *s, pawl_store *store, pawl_text by, pawl_text reason, pawl_time at)
{
    EXPECT_OK(s, pawl_store_queue_pause(store, LINE, by, reason, at, &s->error));
}

static void a_queue_is_paused_until_it_is_resumed(suite *s)
{
    pawl_store      *a = suite_open(s), *b = suite_open_bare(s);
    pawl_queue_pause found = find(s, b, LINE);
    EXPECT(s, !found.is_paused);
    EXPECT_EQ(s, found.since, 0);
    pause(s, a, ANN, TEXT("the \"van\" is broken"), SUITE_NOW + 5);
    found = find(s, b, LINE);
    EXPECT(s, found.is_paused);
    EXPECT_EQ(s, found.since, SUITE_NOW + 5);
    EXPECT_TEXT(s, found.by, ANN);
    EXPECT_TEXT(s, found.reason, TEXT("the \"van\" is broken"));
    EXPECT(s, !find(s, b, TEXT("lin")).is_paused);
    EXPECT_OK(s, pawl_store_queue_resume(b, LINE, BEN, TEXT(""), SUITE_NOW + 9, &s->error));
    found = find(s, a, LINE);
    EXPECT(s, !found.is_paused);
    EXPECT_EQ(s, found.since, SUITE_NOW + 9);
    EXPECT_TEXT(s, found.by, BEN);
    EXPECT_EQ(s, found.reason.size, 0);
    pause(s, b, BEN, TEXT("again"), SUITE_NOW + 12);
    EXPECT(s, find(s, a, LINE).is_paused);
}

static void pausing_a_paused_queue_keeps_the_author_of_the_first_pause(suite *s)
{
    pawl_store *a = suite_open(s);
    EXPECT_OK(s, pawl_store_queue_resume(a, LINE, BEN, TEXT(""), SUITE_NOW, &s->error));
    EXPECT_EQ(s, find(s, a, LINE).since, 0);
    pause(s, a, ANN, TEXT("first"), SUITE_NOW + 5);
    pause(s, a, BEN, TEXT("second"), SUITE_NOW + 6);
    EXPECT_TEXT(s, find(s, a, LINE).by, ANN);
    EXPECT_OK(s, pawl_store_queue_resume(a, LINE, BEN, TEXT("done"), SUITE_NOW + 7, &s->error));
    EXPECT_OK(s, pawl_store_queue_resume(a, LINE, ANN, TEXT(""), SUITE_NOW + 8, &s->error));
    pawl_event_rows rows;
    READ_ROWS(s, pawl_store_queue_actions(a, LINE, s->arena, &rows, &s->error), rows);
    EXPECT_EQ(s, rows.count, 2);
    EXPECT_TEXT(s, rows.items[0].event.type, TEXT(PAWL_QUEUE_PAUSED));
    EXPECT_EQ(s, rows.items[0].event.at, SUITE_NOW + 5);
    EXPECT_TEXT(s, rows.items[1].event.type, TEXT(PAWL_QUEUE_RESUMED));
    EXPECT(s, suite_text_has(rows.items[1].event.headers, TEXT("\"by\":\"ben\"")));
    EXPECT(s, suite_text_has(rows.items[1].event.headers, TEXT("\"reason\":\"done\"")));
}

static void the_list_of_queues_shows_which_ones_are_paused(suite *s)
{
    pawl_store      *a = suite_open(s);
    pawl_queue_infos infos;
    suite_send(s, a, LINE, "m-1", SUITE_NOW);
    suite_send(s, a, TEXT("other"), "m-1", SUITE_NOW);
    pause(s, a, ANN, TEXT("why not"), SUITE_NOW + 5);
    READ_ROWS(s, pawl_store_queue_infos(a, SUITE_NOW, s->arena, &infos, &s->error), infos);
    EXPECT(s, infos.count >= 2);
    for (size_t i = 0; i < infos.count; i++) {
        bool is_line = pawl_text_equal(infos.items[i].queue, LINE);
        EXPECT_EQ(s, infos.items[i].pause.is_paused, is_line);
        EXPECT_TEXT(s, infos.items[i].pause.reason, is_line ? TEXT("why not") : TEXT(""));
    }
    EXPECT_EQ(s, suite_queue(s, a, LINE).count, 1);
}

static void a_queue_with_a_long_name_can_be_paused(suite *s)
{
    pawl_store *a = suite_open(s);
    char        name[LONG_SIZE + 1];
    memset(name, 'n', LONG_SIZE);
    name[LONG_SIZE] = '\0';
    EXPECT_OK(s,
              pawl_store_queue_pause(a, pawl_text_of(name), ANN, TEXT(""), SUITE_NOW, &s->error));
    EXPECT(s, find(s, a, pawl_text_of(name)).is_paused);
    name[0] = 'm';
    EXPECT(s, !find(s, a, pawl_text_of(name)).is_paused);
}

static void an_invalid_pause_of_a_queue_is_refused(suite *s)
{
    pawl_store      *a = suite_open(s);
    pawl_queue_pause found;
    char             why[PAWL_ERROR_TEXT_SIZE_MAX + 1];
    memset(why, 'y', PAWL_ERROR_TEXT_SIZE_MAX);
    why[PAWL_ERROR_TEXT_SIZE_MAX] = '\0';
    EXPECT_CODE(s, pawl_store_queue_pause(a, TEXT(""), ANN, TEXT(""), SUITE_NOW, &s->error),
                PAWL_EINVAL);
    EXPECT_CODE(s, pawl_store_queue_pause(a, LINE, TEXT(""), TEXT(""), SUITE_NOW, &s->error),
                PAWL_EINVAL);
    EXPECT_CODE(s, pawl_store_queue_resume(a, LINE, TEXT(""), TEXT(""), SUITE_NOW, &s->error),
                PAWL_EINVAL);
    EXPECT_CODE(s, pawl_store_queue_pause(a, LINE, ANN, pawl_text_of(why), SUITE_NOW, &s->error),
                PAWL_ELIMIT);
    EXPECT_CODE(s, pawl_store_queue_pause_find(a, TEXT(""), s->arena, &found, &s->error),
                PAWL_EINVAL);
    EXPECT(s, !find(s, a, LINE).is_paused);
}

static const suite_case cases[] = {
    {"E26 a queue is paused until it is resumed", a_queue_is_paused_until_it_is_resumed},
    {"E26 pausing a paused queue keeps the author of the first pause",
     pausing_a_paused_queue_keeps_the_author_of_the_first_pause},
    {"E26 the list of queues shows which ones are paused",
     the_list_of_queues_shows_which_ones_are_paused},
    {"E26 a queue with a long name can be paused", a_queue_with_a_long_name_can_be_paused},
    {"E26 an invalid pause of a queue is refused", an_invalid_pause_of_a_queue_is_refused},
};

const suite_cases cases_op_pause = SUITE_CASES("operation pause", cases);
