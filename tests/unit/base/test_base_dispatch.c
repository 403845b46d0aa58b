/* test_base_dispatch.c - how dispatch ids are made: the examples of
 * docs/dispatch-ids.md, and that no two inputs share one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/dispatch.h"
#include "pawl/limits.h"
#include "support/tests.h"

/* The cell of a table's line at `*at`, blanks and back quotes left out. */
static pawl_text next_cell(const char **at)
{
    const char *start = *at + strspn(*at, "| `");
    const char *end   = strchr(start, '|');
    assert_non_null(end);
    *at = end;
    while (end > start && (end[-1] == ' ' || end[-1] == '`'))
        end--;
    return (pawl_text){.data = start, .size = (size_t)(end - start)};
}

static void check_example(const char *line)
{
    pawl_text cells[6];
    for (size_t i = 0; i < 6; i++)
        cells[i] = next_cell(&line);
    char    kind    = pawl_text_equal(cells[1], PAWL_TEXT("sender")) ? 's' : 'm';
    int64_t version = strtoll(cells[3].data, NULL, 10);
    int32_t index   = (int32_t)strtol(cells[4].data, NULL, 10);
    char    text[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(pawl__dispatch_id_of(cells[0], kind, cells[2], version, index).uuid, text);
    assert_int_equal(cells[5].size, PAWL_UUID_TEXT_SIZE);
    assert_memory_equal(cells[5].data, text, PAWL_UUID_TEXT_SIZE);
    if (kind != 's')
        return;
    pawl_uuid_format(pawl_dispatch_id_make(cells[0], cells[2], version, index).uuid, text);
    assert_memory_equal(cells[5].data, text, PAWL_UUID_TEXT_SIZE);
}

TEST(o5_the_documents_examples_hold)
{
    const char *root = getenv("PAWL_SOURCE_DIR");
    char        line[1000];
    size_t      count = 0;
    const char *path  = test_text("%s/docs/dispatch-ids.md", root != NULL ? root : ".");
    FILE       *file  = fopen(path, "r");
    if (file == NULL)
        fail_msg("%s cannot be read", path);
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "| `", 3) != 0)
            continue;
        check_example(line);
        count++;
    }
    fclose(file);
    assert_true(count >= 6);
}

/* Each differs from the first in one input alone, or moves a byte between two. */
TEST(o5_any_differing_input_gives_another_id)
{
    static const struct {
        const char *endpoint;
        char        kind;
        const char *subject;
        int64_t     version;
        int32_t     index;
    } inputs[] = {
        {"a", 's', "1b", 1, 0},        {"a1", 's', "b", 1, 0},
        {"", 's', "a1b", 1, 0},        {"a", 'm', "1b", 1, 0},
        {"as", 's', "1b", 1, 0},       {"A", 's', "1b", 1, 0},
        {"a", 's', "1B", 1, 0},        {"a", 's', "1b ", 1, 0},
        {"a", 's', "1b", 0, 1},        {"a", 's', "1b", 1, 1},
        {"a", 's', "1b", 256, 0},      {"a", 's', "1b", INT64_C(1) << 32, 0},
        {"a", 's', "1b", 1, 256},      {"a", 's', "\xc3\xa9", 1, 0},
        {"a", 's', "e\xcc\x81", 1, 0},
    };
    enum { COUNT = COUNT(inputs) };
    pawl_uuid ids[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        ids[i] = pawl__dispatch_id_of(pawl_text_of(inputs[i].endpoint), inputs[i].kind,
                                      pawl_text_of(inputs[i].subject), inputs[i].version,
                                      inputs[i].index)
                     .uuid;
        assert_int_equal(ids[i].bytes[6] >> 4, 5);
        assert_int_equal(ids[i].bytes[8] >> 6, 2);
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(pawl_uuid_compare(ids[i], ids[j]), 0);
    }
}

static char long_bytes[PAWL_SOURCE_SIZE_MAX + 1];

static pawl_text of_size(size_t size)
{
    memset(long_bytes, 'x', sizeof long_bytes);
    return (pawl_text){.data = long_bytes, .size = size};
}

TEST(o5_no_id_is_made_of_what_is_too_long)
{
    pawl_text name = PAWL_TEXT("a");
    assert_false(pawl_uuid_is_zero(
        pawl_dispatch_id_make(of_size(PAWL_NAME_SIZE_MAX), of_size(PAWL_SOURCE_SIZE_MAX), 1, 0)
            .uuid));
    assert_true(
        pawl_uuid_is_zero(pawl_dispatch_id_make(of_size(PAWL_NAME_SIZE_MAX + 1), name, 1, 0).uuid));
    assert_true(pawl_uuid_is_zero(
        pawl_dispatch_id_make(name, of_size(PAWL_SOURCE_SIZE_MAX + 1), 1, 0).uuid));
}
