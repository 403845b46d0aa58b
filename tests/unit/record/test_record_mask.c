/* test_record_mask.c - JSON of a record for people.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "unit/record/test_record_sample.h"

#define CARD(F) F(TEXT, holder) F(TEXT, number, .secret = true, .json = "Number")
PAWL_RECORD(card, CARD);
#define WALLET(F)                \
    F(INT64, count)              \
    F(RECORD, first, card)       \
    F(LIST_RECORD, others, card) \
    F(LIST_TEXT, words)          \
    F(RECORD, hidden, card, .secret = true)
PAWL_RECORD(wallet, WALLET);

static void becomes(const char *json, const char *wanted)
{
    pawl_error error  = PAWL_ERROR_INIT;
    pawl_text  masked = {.data = NULL};
    pawl_code  code =
        pawl_record_mask(PAWL_RECORD_OF(wallet)(), pawl_text_of(json), shared, &masked, &error);
    if (code != PAWL_OK)
        fail_msg("%s", error.text);
    assert_string_equal(masked.data, wanted);
    assert_int_equal(masked.size, strlen(wanted));
}

TEST(secret_members_are_masked_at_any_depth)
{
    becomes("{\"count\":3,\"words\":[\"a\"]}", "{\"count\":3,\"words\":[\"a\"]}");
    becomes("{\"first\":{\"holder\":\"h\",\"Number\":\"1\"}}",
            "{\"first\":{\"holder\":\"h\",\"Number\":\"***\"}}");
    becomes("{\"others\":[{\"Number\":\"1\"},{\"holder\":\"h\",\"Number\":null},null]}",
            "{\"others\":[{\"Number\":\"***\"},{\"holder\":\"h\",\"Number\":null},null]}");
    becomes("{\"hidden\":{\"holder\":\"h\"}}", "{\"hidden\":\"***\"}");
    becomes("{\"count\":123456789012345678901234567890}",
            "{\"count\":123456789012345678901234567890}");
    becomes("{\"count\":[0.10]}", "{\"count\":[0.10]}");
}

TEST(what_the_record_does_not_know_is_masked)
{
    becomes("{\"number\":\"1\",\"card\":{\"Number\":\"1\"},\"gone\":null}",
            "{\"number\":\"***\",\"card\":\"***\",\"gone\":null}");
    becomes("{\"first\":[{\"holder\":\"h\"}],\"others\":{\"x\":1}}",
            "{\"first\":\"***\",\"others\":{\"x\":\"***\"}}");
    becomes("[1]", "\"***\"");
    becomes("null", "null");
}

TEST(no_json_is_refused)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_text  masked;
    assert_int_equal(
        pawl_record_mask(PAWL_RECORD_OF(wallet)(), PAWL_TEXT("{"), shared, &masked, &error),
        PAWL_EDECODE);
}
