/* test_span.c - the ring of spans. O23.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/operate/observe/observe.h"
#include "support/tests.h"

static bool put(pawl__spans *spans, int32_t attempt, size_t waiting_expected)
{
    pawl__span span = {.attempt = attempt};
    size_t     waiting;
    bool       is_taken = pawl__spans_put(spans, &span, &waiting);
    assert_int_equal(waiting, waiting_expected);
    return is_taken;
}

TEST(o23_in_a_full_ring_the_oldest_gives_way)
{
    pawl__spans      *spans = pawl__spans_create(3);
    const pawl__span *items = NULL;
    assert_int_equal(pawl__spans_peek(spans, 9, &items), 0);
    for (int32_t i = 1; i <= 3; i++)
        assert_true(put(spans, i, (size_t)i));
    assert_false(put(spans, 4, 3)); /* 1 is lost: [4] 2 3 */
    assert_int_equal(pawl__spans_peek(spans, 9, &items), 2);
    assert_false(put(spans, 5, 3)); /* 5 is lost: 2 and 3 are held */
    assert_int_equal(items[0].attempt, 2);
    assert_int_equal(items[1].attempt, 3);
    assert_int_equal(pawl__spans_again(spans, 9), 0);
    assert_int_equal(pawl__spans_waiting(spans), 3);
    assert_false(put(spans, 6, 3)); /* 2 is lost, as it is no longer held: 4 [6] 3 */
    assert_int_equal(pawl__spans_peek(spans, 1, &items), 1);
    assert_int_equal(items[0].attempt, 3);
    pawl__spans_release(spans, 1);
    assert_true(put(spans, 7, 3));
    assert_int_equal(pawl__spans_peek(spans, 9, &items), 3);
    assert_int_equal(items[0].attempt, 4);
    assert_int_equal(items[1].attempt, 6);
    assert_int_equal(items[2].attempt, 7);
    pawl__spans_destroy(spans);
    pawl__spans_destroy(NULL);
}

/* Around the end of the ring the rest comes with the next hold. */
TEST(o23_spans_leave_in_their_order)
{
    pawl__spans      *spans = pawl__spans_create(4);
    const pawl__span *items = NULL;
    int32_t           in = 0, out = 0;
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 1 + round % 4 && in - out < 4; i++, in++)
            assert_true(put(spans, in, (size_t)(in - out + 1)));
        size_t held = pawl__spans_peek(spans, 1 + (size_t)round % 3, &items);
        assert_true(held > 0);
        for (size_t i = 0; i < held; i++)
            assert_int_equal(items[i].attempt, out++);
        pawl__spans_release(spans, held);
    }
    assert_true(out > 50);
    pawl__spans_destroy(spans);
}

TEST(o23_texts_are_cut_between_characters)
{
    char text[5];
    pawl__span_name(text, sizeof text, PAWL_TEXT("abcd"));
    assert_string_equal(text, "abcd");
    pawl__span_name(text, sizeof text, PAWL_TEXT("abcde"));
    assert_string_equal(text, "abcd");
    pawl__span_name(text, sizeof text, PAWL_TEXT("abc\xC3\xA4"));
    assert_string_equal(text, "abc");
    pawl__span_name(text, sizeof text, PAWL_TEXT("ab\xC3\xA4x"));
    assert_string_equal(text, "ab\xC3\xA4");
    pawl__span_name(text, sizeof text, (pawl_text){0});
    assert_string_equal(text, "");
}
