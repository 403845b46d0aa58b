/* test_command_options.c - the words behind a verb. Answers of the whole command are in
 * tests/system/command_usage.sh.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Part of the command, not of the library. */
#include "cli/base/options.c"
#include "support/tests.h"

typedef struct sample {
    const char *what;
    const char *more;
    const char *name;
    pawl__texts list;
    int64_t     count;
    int64_t     duration;
    pawl_time   until;
    bool        is_flag;
    bool        is_yes;
    pawl__texts rest;
} sample;

static const char *const colours[] = {"green", "red", NULL};

static const pawl__argument sample_arguments[] = {
    {.name = "WHAT", .offset = offsetof(sample, what), .choices = colours},
    {.name = "MORE", .offset = offsetof(sample, more), .is_optional = true},
    {.name = NULL},
};
static const pawl__option sample_options[] = {
    {.name   = "count",
     .kind   = PAWL__OPTION_COUNT,
     .offset = offsetof(sample, count),
     .value  = "N",
     .min    = 1,
     .max    = 9},
    {.name   = "duration",
     .kind   = PAWL__OPTION_DURATION,
     .offset = offsetof(sample, duration),
     .value  = "DURATION"},
    {.name = "flag", .kind = PAWL__OPTION_FLAG, .offset = offsetof(sample, is_flag)},
    {.name = "list", .kind = PAWL__OPTION_LIST, .offset = offsetof(sample, list), .value = "X"},
    {.name = "name", .kind = PAWL__OPTION_TEXT, .offset = offsetof(sample, name), .value = "NAME"},
    {.name   = "until",
     .kind   = PAWL__OPTION_TIME,
     .offset = offsetof(sample, until),
     .value  = "TIME"},
    {.name = "yes", .kind = PAWL__OPTION_YES_NO, .offset = offsetof(sample, is_yes)},
    {.name = NULL},
};

/* Arguments that end in a list, and options that are for one action. */
static const pawl__argument coat_arguments[] = {
    {.name = "WHAT", .offset = offsetof(sample, what), .choices = colours},
    {.name = "WALL", .offset = offsetof(sample, rest), .is_optional = true, .is_list = true},
    {.name = NULL},
};
static const pawl__option coat_options[] = {
    {.name = "flag", .kind = PAWL__OPTION_FLAG, .offset = offsetof(sample, is_flag), .actions = 1},
    {.name    = "name",
     .kind    = PAWL__OPTION_TEXT,
     .offset  = offsetof(sample, name),
     .value   = "NAME",
     .actions = 3},
    {.name = NULL},
};

#define WORDS(...) ((char *[]){__VA_ARGS__, NULL})

static pawl_code parse(char **words, sample *fields, pawl_error *error)
{
    int count = 0;
    while (words[count] != NULL)
        count++;
    *fields = (sample){.is_yes = true};
    return pawl__options_parse("paint", sample_arguments, sample_options, count, words, fields,
                               error);
}

TEST(each_kind_lands_in_its_field)
{
    sample fields;
    must(parse(WORDS("--count", "3", "red", "--duration=15m", "--flag", "--list", "a",
                     "--name=", "--list=b=c", "--yes", "no", "--", "--more"),
               &fields, world_error()));
    assert_string_equal(fields.what, "red");
    assert_string_equal(fields.more, "--more");
    assert_string_equal(fields.name, "");
    assert_int_equal(fields.count, 3);
    assert_int_equal(fields.duration, PAWL_MINUTES(15));
    assert_int_equal(fields.list.count, 2);
    assert_string_equal(fields.list.items[1], "b=c");
    assert_true(fields.is_flag);
    assert_false(fields.is_yes);
}

TEST(what_is_not_given_keeps_its_default)
{
    sample fields;
    assert_int_equal(parse(WORDS("green"), &fields, NULL), PAWL_OK);
    assert_null(fields.more);
    assert_true(fields.is_yes);
    assert_int_equal(fields.list.count, 0);
}

typedef struct refusal_row {
    char      **words;
    const char *text;
} refusal_row;

TEST(what_is_wrong_is_named)
{
    const refusal_row rows[] = {
        {WORDS("--flag"), "pawl paint needs WHAT; valid are green, red"},
        {WORDS("rde"), "pawl paint: 'rde' is not a valid WHAT; did you mean red?"},
        {WORDS("red", "a", "b"), "pawl paint: 'b' is one argument too many"},
        {WORDS("red", "--falg"), "pawl paint has no option --falg; did you mean --flag?"},
        {WORDS("red", "--coun=3"), "pawl paint has no option --coun; did you mean --count?"},
        {WORDS("red", "--zzzzzz"), "pawl paint has no option --zzzzzz; valid are --count, "
                                   "--duration, --flag, --list, --name, --until, --yes"},
        {WORDS("red", "-1"), "pawl paint has no option -1; valid are --count, "
                             "--duration, --flag, --list, --name, --until, --yes"},
        {WORDS("red", "--flag", "--flag"), "--flag is given twice"},
        {WORDS("red", "--flag=1"), "--flag takes no value, but has '1'"},
        {WORDS("red", "--name"), "--name needs a value: NAME"},
        {WORDS("red", "--count", "0"), "--count: 0 is not within 1 and 9"},
        {WORDS("red", "--count", "10"), "--count: 10 is not within 1 and 9"},
        {WORDS("red", "--count", "99999999999999999999"),
         "--count: 99999999999999999999 is not within 1 and 9"},
        {WORDS("red", "--count", "1x"), "--count: '1x' is not a whole number"},
        {WORDS("red", "--count", ""), "--count: '' is not a whole number"},
        {WORDS("red", "--yes", "perhaps"), "--yes: 'perhaps' is neither yes nor no"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        sample     fields;
        pawl_error error = PAWL_ERROR_INIT;
        assert_int_equal(parse(rows[i].words, &fields, &error), PAWL_EINVAL);
        assert_string_equal(error.text, rows[i].text);
    }
}

/* The field is 0 where the option was not given, so that a time of 0 would be no bound at all. */
TEST(a_time_that_would_be_no_bound_is_refused)
{
    static const char *const epochs[] = {"1970-01-01T00:00:00Z", "1970-01-01T00:00:00.0000001Z",
                                         "1970-01-01T01:00:00+01:00"};
    sample                   fields;
    for (size_t i = 0; i < COUNT(epochs); i++) {
        pawl_error error   = PAWL_ERROR_INIT;
        char      *words[] = {"red", "--until", (char *)(uintptr_t)epochs[i], NULL};
        assert_int_equal(parse(words, &fields, &error), PAWL_EINVAL);
        assert_non_null(strstr(error.text, epochs[i]));
    }
    assert_int_equal(parse(WORDS("red", "--until", "1970-01-01T00:00:00.000001Z"), &fields, NULL),
                     PAWL_OK);
    assert_int_equal(fields.until, 1);
    assert_int_equal(parse(WORDS("red", "--until", "1969-12-31T23:59:59Z"), &fields, NULL),
                     PAWL_OK);
    assert_int_equal(fields.until, -PAWL_SECONDS(1));
}

static pawl_code parse_coat(char **words, sample *fields, pawl_error *error)
{
    int count = 0;
    while (words[count] != NULL)
        count++;
    *fields = (sample){.what = NULL};
    return pawl__options_parse("coat", coat_arguments, coat_options, count, words, fields, error);
}

TEST(the_last_argument_may_be_a_list)
{
    char  *words[PAWL__TEXTS_MAX + 3] = {"red"};
    sample fields;
    must(parse_coat(words, &fields, world_error()));
    assert_int_equal(fields.rest.count, 0);
    must(parse_coat(WORDS("red", "a", "--name=x", "b"), &fields, world_error()));
    assert_int_equal(fields.rest.count, 2);
    assert_string_equal(fields.rest.items[0], "a");
    assert_string_equal(fields.rest.items[1], "b");
    for (int i = 1; i <= PAWL__TEXTS_MAX + 1; i++)
        words[i] = "wall";
    must_fail(parse_coat(words, &fields, world_error()), PAWL_ELIMIT,
              "WALL: given more than 64 times");
}

TEST(an_option_may_be_for_one_action)
{
    sample fields;
    char   text[40];
    must(parse_coat(WORDS("--flag", "green", "--name", "x"), &fields, world_error()));
    assert_true(fields.is_flag);
    must(parse_coat(WORDS("--name", "x", "red"), &fields, world_error()));
    must_fail(parse_coat(WORDS("--flag", "red"), &fields, world_error()), PAWL_EINVAL,
              "pawl coat red has no option --flag: it is for green");
    pawl__actions_text(coat_arguments, 3, text, sizeof text);
    assert_string_equal(text, "green, red");
    pawl__actions_text(coat_arguments, 0, text, sizeof text);
    assert_string_equal(text, "");
}

TEST(numbers)
{
    const struct {
        const char *text;
        int64_t     number; /* 0: none */
    } rows[] = {
        {"1", 1},
        {"9223372036854775807", INT64_MAX},
        {"007", 7},
        {"0", 0},
        {"", 0},
        {"-1", 0},
        {"+1", 0},
        {" 1", 0},
        {"1 ", 0},
        {"1x", 0},
        {"9223372036854775808", 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t number = 0;
        assert_int_equal(pawl__number_parse(rows[i].text, &number), rows[i].number != 0);
        if (rows[i].number != 0)
            assert_int_equal(number, rows[i].number);
    }
}

TEST(a_list_has_a_limit)
{
    char *words[PAWL__TEXTS_MAX + 3] = {"red"};
    for (int i = 1; i <= PAWL__TEXTS_MAX + 1; i++)
        words[i] = "--list=x";
    sample fields;
    must_fail(parse(words, &fields, world_error()), PAWL_ELIMIT,
              "--list: given more than 64 times");
    words[PAWL__TEXTS_MAX + 1] = NULL;
    must(parse(words, &fields, world_error()));
    assert_int_equal(fields.list.count, PAWL__TEXTS_MAX);
}

TEST(durations)
{
    const struct {
        const char *text;
        int64_t     duration; /* -1: refused */
    } rows[] = {
        {"0s", 0},
        {"500ms", 500000},
        {"5s", 5000000},
        {"15m", INT64_C(900000000)},
        {"2h", INT64_C(7200000000)},
        {"30d", INT64_C(2592000000000)},
        {"2932897d", -1},
        {"99999999999999999999s", -1},
        {"", -1},
        {"5", -1},
        {"s", -1},
        {"-5s", -1},
        {" 5s", -1},
        {"5 s", -1},
        {"1.5h", -1},
        {"5sec", -1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t    duration = -1;
        pawl_error error    = PAWL_ERROR_INIT;
        pawl_code  code     = pawl__duration_parse(rows[i].text, &duration, &error);
        assert_int_equal(code, rows[i].duration >= 0 ? PAWL_OK : PAWL_EINVAL);
        assert_int_equal(duration, rows[i].duration);
        if (code != PAWL_OK)
            assert_non_null(strstr(error.text, rows[i].text));
    }
}

TEST(suggestions)
{
    const char *const names[] = {"queue", "run", "schema", "send", "stats", NULL};
    char              text[200];
    pawl__suggest("sned", "", names, text, sizeof text);
    assert_string_equal(text, "; did you mean send?");
    pawl__suggest("sch", "", names, text, sizeof text);
    assert_string_equal(text, "; did you mean schema?");
    /* Half of it is another word's; of two that are near the nearest is enough. */
    pawl__suggest("rung", "", names, text, sizeof text);
    assert_string_equal(text, "; did you mean run?");
    pawl__suggest("rust", "", names, text, sizeof text);
    assert_null(strstr(text, "did you mean"));
    pawl__suggest("bind", "", names, text, sizeof text);
    assert_null(strstr(text, "did you mean"));
    pawl__suggest("stast", "", names, text, sizeof text);
    assert_string_equal(text, "; did you mean stats?");
    pawl__suggest("scheam", "", names, text, sizeof text);
    assert_string_equal(text, "; did you mean schema?");
    const char *const delays[] = {"outbox-delay", "outbox-idle", "retry-delay", NULL};
    pawl__suggest("outbox-dealy", "", delays, text, sizeof text);
    assert_string_equal(text, "; did you mean outbox-delay?");
    pawl__suggest("x", "--", names, text, sizeof text);
    assert_string_equal(text, "; valid are --queue, --run, --schema, --send, --stats");
    pawl__suggest("a name that is longer than any that is compared to its end", "", names, text,
                  sizeof text);
    assert_non_null(strstr(text, "valid are"));
    pawl__suggest("x", "", names + 5, text, sizeof text);
    assert_string_equal(text, "; there are none");
    pawl__suggest("x", "--", names, text, 20);
    assert_string_equal(text, "; valid are --queue");
}
