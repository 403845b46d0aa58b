/* test_base_text.c - which texts are well-formed, and the form of times.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/base.h"
#include "support/tests.h"

#include <unistd.h>

typedef struct sample {
    const char *bytes;
    size_t      size;
    size_t      bad; /* offset of the first bad byte, `size` when there is none */
} sample;

#define GOOD(literal)                                     \
    {                                                     \
        literal, sizeof(literal) - 1, sizeof(literal) - 1 \
    }
#define BAD(literal, at)                 \
    {                                    \
        literal, sizeof(literal) - 1, at \
    }

static const sample samples[] = {
    GOOD("a"),
    GOOD("\x01"),
    GOOD("\x7f"),
    GOOD("\xc2\x80"),
    GOOD("\xc3\xa9t\xc3\xa9"),
    GOOD("\xe0\xa0\x80"),
    GOOD("\xed\x9f\xbf"),
    GOOD("\xef\xbf\xbf"),
    GOOD("\xf0\x90\x80\x80"),
    GOOD("\xf4\x8f\xbf\xbf"),
    BAD("\0", 0),
    BAD("\x80", 0),
    BAD("\xc0\x80", 0), /* NUL in two bytes */
    BAD("\xc1\xbf", 0),
    BAD("\xc3", 0),
    BAD("\xc3(", 0),
    BAD("\xe0\x9f\xbf", 0), /* overlong */
    BAD("\xed\xa0\x80", 0), /* a surrogate */
    BAD("\xe2\x82", 0),
    BAD("\xf0\x8f\xbf\xbf", 0),
    BAD("\xf4\x90\x80\x80", 0), /* above U+10FFFF */
    BAD("\xf5\x80\x80\x80", 0),
    BAD("\xff", 0),
    BAD("a\x80", 1),
};

static void check(const char *text, size_t size, size_t bad)
{
    size_t at = SIZE_MAX;
    if (bad == size) {
        assert_true(pawl_text_is_valid((pawl_text){.data = text, .size = size}, &at));
        assert_true(pawl_text_is_valid((pawl_text){.data = text, .size = size}, NULL));
        assert_true(at == SIZE_MAX);
        return;
    }
    assert_false(pawl_text_is_valid((pawl_text){.data = text, .size = size}, &at));
    assert_false(pawl_text_is_valid((pawl_text){.data = text, .size = size}, NULL));
    assert_int_equal(at, bad);
}

/* Each sample at each place in letters of each kind around it: what is read
 * several bytes at a time must find it wherever it stands. */
TEST(test_each_sample_at_each_place)
{
    static const char fillers[] = {'\x01', ' ', 'x', '\x7f'};
    for (size_t s = 0; s < COUNT(samples); s++)
        for (size_t f = 0; f < sizeof fillers; f++)
            for (size_t before = 0; before < 20; before++)
                for (size_t after = 0; after < 20; after++) {
                    char   text[64];
                    size_t size = before + samples[s].size + after;
                    size_t bad = samples[s].bad == samples[s].size ? size : before + samples[s].bad;
                    memset(text, fillers[f], sizeof text);
                    memcpy(text + before, samples[s].bytes, samples[s].size);
                    check(text, size, bad);
                }
}

TEST(test_two_in_one_text)
{
    check("xxxxxxxx\xc3\xa9xxxxxxxx\0xxxxxxxx", 27, 18);
    check("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3", 11, 10);
    check("", 0, 0);
    check("xx\xc3\xa9", 3, 2); /* the rest of the character is not the text's */
    check("\xe2\x82\xac", 2, 0);
    check("\xf0\x90\x80\x80", 3, 0);
    assert_true(pawl_text_is_valid((pawl_text){0}, NULL));
}

TEST(test_times_have_one_form)
{
    static const struct {
        pawl_time   time;
        const char *text;
    } times[] = {
        {0, "1970-01-01T00:00:00.000000Z"},
        {-1, "1969-12-31T23:59:59.999999Z"},
        {INT64_C(951782400000001), "2000-02-29T00:00:00.000001Z"},
        {INT64_C(1767258000123456), "2026-01-01T09:00:00.123456Z"},
        {PAWL_TIME_MIN, "0001-01-01T00:00:00.000000Z"},
        {PAWL_TIME_MAX, "9999-12-31T23:59:59.999999Z"},
        {INT64_MIN, "0001-01-01T00:00:00.000000Z"},
        {INT64_MAX, "9999-12-31T23:59:59.999999Z"},
    };
    for (size_t i = 0; i < COUNT(times); i++) {
        char      text[PAWL_TIME_TEXT_SIZE + 1];
        pawl_time back = 0;
        memset(text, '?', sizeof text);
        pawl_time_format(times[i].time, text);
        assert_string_equal(text, times[i].text);
        assert_int_equal(pawl_time_parse(pawl_text_of(text), &back, NULL), PAWL_OK);
        pawl_time kept = times[i].time < PAWL_TIME_MIN   ? PAWL_TIME_MIN
                         : times[i].time > PAWL_TIME_MAX ? PAWL_TIME_MAX
                                                         : times[i].time;
        assert_true(back == kept);
    }
}

TEST(texts_are_compared_bytewise)
{
    static const pawl_text sorted[] = {PAWL_TEXT_INIT(""),    PAWL_TEXT_INIT("a"),
                                       PAWL_TEXT_INIT("a\0"), PAWL_TEXT_INIT("aa"),
                                       PAWL_TEXT_INIT("b"),   PAWL_TEXT_INIT("\xC3\xA9")};
    for (size_t i = 0; i < COUNT(sorted); i++)
        for (size_t j = 0; j < COUNT(sorted); j++) {
            int order = pawl_text_compare(sorted[i], sorted[j]);
            assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
            assert_int_equal(pawl_text_equal(sorted[i], sorted[j]), i == j);
        }
    assert_true(pawl_text_equal((pawl_text){0}, PAWL_TEXT("")));
    assert_int_equal(pawl_text_of(NULL).size, 0);
    assert_int_equal(pawl_text_of("abc").size, 3);
}

/* An outbound transport's text in a line of the log ends no line, turns none around, and a terminal obeys none of
 * it. */
TEST(a_log_line_is_one_line_that_does_nothing)
{
    static test_lines logged;
    test_listen(&logged, PAWL_LOG_WARNING, NULL);
    pawl_log(PAWL_LOG_WARNING, "refused:\n\tis %s there?", "\x1b[31mit\r\xff\xC2\x9B");
    assert_string_equal(logged.last, "refused:  is ?[31mit ??? there?");
    pawl_log(PAWL_LOG_WARNING, "caf\xC3\xA9 \xE2\x82\xAC \xE2\x80\xAEx\xE2\x81\xA9\xE2");
    assert_string_equal(logged.last, "caf\xC3\xA9 \xE2\x82\xAC ???x????");
    pawl_log_set(NULL, PAWL_LOG_WARNING, NULL);
}

static unsigned lines[4]; /* of each level */

static void count_line(pawl_log_level level, const char *text, void *context)
{
    assert_ptr_equal(context, lines);
    assert_true(strlen(text) < 2000);
    lines[level]++;
}

TEST(a_log_takes_lines_up_to_its_level)
{
    for (int max = PAWL_LOG_ERROR; max <= PAWL_LOG_DEBUG; max++) {
        memset(lines, 0, sizeof lines);
        pawl_log_set(count_line, (pawl_log_level)max, lines);
        for (int level = PAWL_LOG_ERROR; level <= PAWL_LOG_DEBUG; level++)
            pawl_log((pawl_log_level)level, "%3000d", level);
        for (int level = PAWL_LOG_ERROR; level <= PAWL_LOG_DEBUG; level++)
            assert_int_equal(lines[level], level <= max);
    }
    pawl_log_set(NULL, PAWL_LOG_DEBUG, NULL);
}

/* Without a function, warnings and errors go to standard error, which is a file meanwhile. */
TEST(a_log_without_a_function_is_on_standard_error)
{
    char  read[100] = "";
    FILE *file      = tmpfile();
    int   before    = dup(STDERR_FILENO);
    assert_non_null(file);
    assert_true(before >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    pawl_log_set(NULL, PAWL_LOG_DEBUG, NULL);
    pawl_log(PAWL_LOG_INFO, "not this");
    pawl_log(PAWL_LOG_WARNING, "queue %s waits", "orders");
    assert_true(fflush(stderr) == 0 && dup2(before, STDERR_FILENO) >= 0 && close(before) == 0);
    rewind(file);
    read[fread(read, 1, sizeof read - 1, file)] = '\0';
    assert_string_equal(read, "pawl: warning: queue orders waits\n");
    assert_int_equal(fclose(file), 0);
}
