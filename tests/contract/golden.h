/* golden.h - files of the folder tests/golden/sql, which a test compares with what is written now.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_CONTRACT_GOLDEN_H
#define PAWL_TESTS_CONTRACT_GOLDEN_H
#include "support/tests.h"

static inline void golden_path(char *path, size_t size, const char *driver)
{
    const char *root = getenv("PAWL_SOURCE_DIR");
    snprintf(path, size, "%s/tests/golden/sql/%s.sql", root != NULL ? root : ".", driver);
}

static inline char *read_file(const char *path)
{
    FILE *from = fopen(path, "rb");
    char *text = NULL;
    long  size = 0;
    if (from == NULL)
        fail_msg("%s is missing", path);
    assert_int_equal(fseek(from, 0, SEEK_END), 0);
    size = ftell(from);
    rewind(from);
    text = malloc((size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, from), (size_t)size);
    text[size] = '\0';
    fclose(from);
    return text;
}

static inline void compare_lines(const char *path, const char *is, const char *was)
{
    for (int line = 1; *is != '\0' || *was != '\0'; line++) {
        size_t is_size = strcspn(is, "\n"), was_size = strcspn(was, "\n");
        if (is_size != was_size || memcmp(is, was, is_size) != 0)
            fail_msg("%s:%d:\nit was: %.*s\nit is:  %.*s\n"
                     "when that is meant: PAWL_TEST_WRITE_GOLDEN=1 test_sql_golden, and look at "
                     "the difference",
                     path, line, (int)was_size, was, (int)is_size, is);
        is += is_size + (is[is_size] != '\0');
        was += was_size + (was[was_size] != '\0');
    }
}

#endif
