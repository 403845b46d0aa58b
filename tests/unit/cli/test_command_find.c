/* test_command_find.c - which messages `pawl find` finds. Answers of the whole command are in
 * tests/system/command_find.sh.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Parts of the command, not of the library. */
#include "cli/base/options.c"
#include "cli/message/find_match.c"
#include "support/tests.h"

static pawl__find_verdict match_message(const char *words, const pawl_message *message)
{
    pawl__find_conditions conditions = {.count = 0};
    pawl__texts           list       = {.count = 0};
    char                  text[4096];
    snprintf(text, sizeof text, "%s", words);
    for (char *word = strtok(text, "|"); word != NULL; word = strtok(NULL, "|"))
        list.items[list.count++] = word;
    must(pawl__find_read(&list, &conditions, world_error()));
    pawl__find_verdict verdict = pawl__find_match(&conditions, message);
    pawl__find_free(&conditions);
    return verdict;
}

static pawl__find_verdict match(const char *words, const char *body)
{
    const pawl_message message = {.id             = PAWL_TEXT("m-1"),
                                  .type           = PAWL_TEXT("charge"),
                                  .body           = pawl_text_of(body),
                                  .headers        = PAWL_TEXT("{\"tenant\":\"acme\",\"n\":\"7\"}"),
                                  .correlation_id = PAWL_TEXT("c-1"),
                                  .causation_id   = PAWL_TEXT("o-1")};
    return match_message(words, &message);
}

/* ---- Members ------------------------------------------------------------- */

typedef struct row {
    const char        *words, *body;
    pawl__find_verdict verdict;
} row;

#define YES PAWL__FIND_YES
#define NO PAWL__FIND_NO
#define UNREADABLE PAWL__FIND_UNREADABLE

static const row members[] = {
    /* A number and its text; in quotes the text alone. */
    {"customer_id=4711", "{\"customer_id\":4711}", YES},
    {"customer_id=4711", "{\"customer_id\":\"4711\"}", YES},
    {"customer_id=\"4711\"", "{\"customer_id\":\"4711\"}", YES},
    {"customer_id=\"4711\"", "{\"customer_id\":4711}", NO},
    {"customer_id=4711", "{\"customer_id\":47110}", NO},
    {"customer_id=4711", "{\"customer_id\":\"47110\"}", NO},
    {"customer_id=4711", "{\"customer\":4711}", NO},
    {"customer_id=4711", "{\"customer_id\":-4711}", NO},
    {"n=-5", "{\"n\":-5}", YES},
    {"n=5", "{\"n\":5.0}", YES},
    {"n=0.5", "{\"n\":5e-1}", YES},
    {"n=05", "{\"n\":5}", NO},
    {"n=05", "{\"n\":\"05\"}", YES},
    {"n=9007199254740993", "{\"n\":9007199254740992}", NO},
    {"n=18446744073709551615", "{\"n\":-1}", NO},
    {"n=123456789012345678901234567890", "{\"n\":123456789012345678901234567890}", YES},
    {"n=123456789012345678901234567890", "{\"n\":123456789012345678901234567891}", NO},
    /* Other kinds. */
    {"paid=true", "{\"paid\":true}", YES},
    {"paid=true", "{\"paid\":false}", NO},
    {"paid=true", "{\"paid\":1}", NO},
    {"paid=null", "{\"paid\":null}", YES},
    {"paid=null", "{}", NO},
    {"paid=1", "{\"paid\":true}", NO},
    {"name=it is", "{\"name\":\"it is\"}", YES},
    {"name=a=b", "{\"name\":\"a=b\"}", YES},
    {"name=\"\"", "{\"name\":\"\"}", YES},
    {"name=\xC3\xA9", "{\"name\":\"\\u00e9\"}", YES},
    {"name=x", "{\"name\":\"X\"}", NO},
    {"name={}", "{\"name\":{}}", NO},
    {"name={}", "{\"name\":\"{}\"}", YES},
    {"name=[1", "{\"name\":\"[1\"}", YES},
    /* Paths, through arrays as well. */
    {"of.trip=3", "{\"of\":{\"trip\":3}}", YES},
    {"of.trip=3", "{\"of\":{\"trip\":4},\"trip\":3}", NO},
    {"of.trip=3", "{\"of\":[{\"trip\":1},{\"trip\":3}]}", YES},
    {"of.trip=3", "{\"of\":[{\"trip\":1},{\"trap\":3}]}", NO},
    {"of.trip=3", "{\"of\":{\"trip\":[2,3]}}", YES},
    {"of.trip=3", "{\"of\":{\"trip\":[[3]]}}", YES},
    {"of.trip=3", "{\"of.trip\":3}", YES},
    {"of.trip=3", "{\"of\":{\"trip\":1},\"of.trip\":3}", YES},
    {"of.trip=3", "{\"of\":3}", NO},
    {"of=3", "{\"of\":{\"trip\":3}}", NO},
    {"a.b.c=x", "{\"a\":{\"b\":{\"c\":\"x\"}}}", YES},
    {"a.b.c=x", "{\"a\":{\"b.c\":\"x\"}}", YES},
    {"a=1", "[{\"a\":0},{\"a\":1}]", YES},
    {"a=1", "1", NO},
    /* Bodies that are no JSON; an empty one has no members. */
    {"a=1", "{\"a\":1", UNREADABLE},
    {"a=1", "a=1", UNREADABLE},
    {"a=1", "{\"a\":\"\xff\"}", UNREADABLE},
    {"a=1", "{\"a\":1} x", UNREADABLE},
    {"a=1", "", NO},
    {"type=note|a=1", "{\"a\":1", NO},
    {"type=charge", "{\"a\":1", YES},
    /* Parts of the message, and members of their names. */
    {"type=charge", "{}", YES},
    {"type=char", "{}", NO},
    {"id=m-1", "{}", YES},
    {"id=m-1", "{\"id\":\"m-2\"}", YES},
    {"body:id=m-2", "{\"id\":\"m-2\"}", YES},
    {"body:id=m-1", "{\"id\":\"m-2\"}", NO},
    {"body:body:x=1", "{\"body:x\":1}", YES},
    {"correlation=c-1", "{}", YES},
    {"correlation=c-2", "{}", NO},
    {"causation=o-1", "{}", YES},
    {"causation=c-1", "{}", NO},
    {"identity=3", "{\"identity\":3}", YES},
    {"header:tenant=acme", "{}", YES},
    {"header:tenant=acm", "{}", NO},
    {"header:Tenant=acme", "{}", NO},
    {"header:n=7", "{}", YES},
    {"header=7", "{\"header\":7}", YES},
    /* All of them. */
    {"header:tenant=acme|a=1|b=2", "{\"a\":1,\"b\":2}", YES},
    {"header:tenant=acme|a=1|b=2", "{\"a\":1,\"b\":3}", NO},
    {"a=1|b=2", "{\"a\":3,\"b\":2}", NO},
    {"a=1|header:tenant=other", "{\"a\":1}", NO},
    {"correlation=c-1|a=1", "{\"a\":2}", NO},
};

TEST(members_are_found_by_their_paths)
{
    for (size_t i = 0; i < COUNT(members); i++) {
        pawl__find_verdict verdict = match(members[i].words, members[i].body);
        if (verdict != members[i].verdict)
            fail_msg("%s of %s: %d", members[i].words, members[i].body, (int)verdict);
    }
}

TEST(headers_that_are_no_object_have_none)
{
    static const char *const headers[] = {"", "[]", "{", "\"tenant\"", "{\"tenant\":1}"};
    for (size_t i = 0; i < COUNT(headers); i++) {
        const pawl_message message = {.headers = pawl_text_of(headers[i])};
        assert_int_equal(match_message("header:tenant=1", &message), NO);
    }
}

/* ---- Sizes --------------------------------------------------------------- */

/* "[[[...3...]]]": `depth` arrays. */
static char *nested(size_t depth)
{
    char *body = malloc(2 * depth + 20);
    assert_non_null(body);
    size_t size = (size_t)sprintf(body, "{\"a\":");
    memset(body + size, '[', depth);
    body[size + depth] = '3';
    memset(body + size + depth + 1, ']', depth);
    memcpy(body + size + 2 * depth + 1, "}", 2);
    return body;
}

TEST(arrays_are_looked_through_to_a_depth)
{
    char *shallow = nested(PAWL__FIND_STEPS_MAX), *deep = nested(1000000);
    assert_int_equal(match("a=3", shallow), YES);
    assert_int_equal(match("a=3", deep), NO);
    free(shallow);
    free(deep);
}

TEST(a_large_body_is_read_to_its_end)
{
    size_t size = (size_t)15 * 1024 * 1024;
    char  *body = malloc(size + 40);
    assert_non_null(body);
    memcpy(body, "{\"pad\":\"", 8);
    memset(body + 8, 'x', size);
    strcpy(body + 8 + size, "\",\"of\":[{\"trip\":3}]}");
    assert_int_equal(match("of.trip=3", body), YES);
    assert_int_equal(match("of.trip=4", body), NO);
    body[8 + size] = 'x';
    assert_int_equal(match("of.trip=3", body), UNREADABLE);
    free(body);
}

TEST(a_path_has_a_longest_one)
{
    char word[4 * PAWL__FIND_STEPS_MAX], body[8 * PAWL__FIND_STEPS_MAX] = "", end[100] = "";
    word[0] = '\0';
    for (size_t i = 0; i < PAWL__FIND_STEPS_MAX; i++) {
        strcat(word, i == 0 ? "a" : ".a");
        strcat(body, "{\"a\":");
        strcat(end, "}");
    }
    strcat(word, "=1");
    strcat(body, "1");
    strcat(body, end);
    assert_int_equal(match(word, body), YES);
}

/* ---- Words --------------------------------------------------------------- */

static const struct refusal {
    const char *word, *text;
} refusals[] = {
    {"customer_id", "'customer_id' has no '=': give NAME=VALUE"},
    {"", "'' has no '='"},
    {"=4711", "the name before '=' is empty"},
    {"header:=x", "the name before '=' is empty"},
    {"body:=x", "the name before '=' is empty"},
    {"customer_id=", "customer_id: the value is empty"},
    {"correlation=", "correlation: the value is empty"},
    {"a..b=1", "a..b: a step of the path is empty"},
    {".a=1", ".a: a step of the path is empty"},
    {"a.=1", "a.: a step of the path is empty"},
    {"a=\xff", "not UTF-8"},
};

static void refuse(const char *word, const char *text)
{
    pawl__find_conditions conditions = {.count = 0};
    const pawl__texts     list       = {.items = {"a=1", word}, .count = 2};
    pawl_error            error      = PAWL_ERROR_INIT;
    assert_int_equal(pawl__find_read(&list, &conditions, &error), PAWL_EINVAL);
    if (strstr(error.text, text) == NULL)
        fail_msg("'%s': %s", word, error.text);
    pawl__find_free(&conditions);
}

TEST(wrong_words_are_refused)
{
    char word[4 * PAWL__FIND_STEPS_MAX] = "a";
    for (size_t i = 0; i < COUNT(refusals); i++)
        refuse(refusals[i].word, refusals[i].text);
    for (size_t i = 0; i < PAWL__FIND_STEPS_MAX; i++)
        strcat(word, ".a");
    strcat(word, "=1");
    refuse(word, "has 33 steps, limit 32");
    pawl__find_conditions conditions;
    must_fail_with(pawl__find_read(&(const pawl__texts){.count = 0}, &conditions, world_error()),
                   PAWL_EINVAL, "pawl find needs NAME=VALUE");
}
