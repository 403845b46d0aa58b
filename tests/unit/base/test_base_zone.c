/* test_base_zone.c - files of time zones: made-up ones, what is refused, and the rule at the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_memory.h"

#include "base/zone.h"
#include "support/tests.h"

#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/pawl-zone-XXXXXX";

/* ---- Files -------------------------------------------------------------- */

typedef struct file_text {
    unsigned char data[4096];
    size_t        size;
} file_text;

static void put(file_text *file, const void *data, size_t size)
{
    memcpy(file->data + file->size, data, size);
    file->size += size;
}

static void put_number(file_text *file, int64_t value, size_t size)
{
    for (size_t i = size; i-- > 0;)
        file->data[file->size++] = (unsigned char)((uint64_t)value >> (8 * i));
}

static void put_header(file_text *file, char version, int leaps, int changes, int types,
                       int letters)
{
    put(file, "TZif", 4);
    put(file, &version, 1);
    for (int i = 0; i < 15; i++)
        put(file, "", 1);
    const int counts[] = {0, 0, leaps, changes, types, letters};
    for (size_t i = 0; i < 6; i++)
        put_number(file, counts[i], 4);
}

static void put_type(file_text *file, int32_t offset)
{
    put_number(file, offset, 4);
    put_number(file, 0, 2);
}

/* Two changes, at 1000 and at 5000, from +1:00 by +2:00 to -0:30; then the rule. */
static file_text a_zone(const char *rule)
{
    file_text file = {.size = 0};
    put_header(&file, '2', 0, 1, 1, 4);
    put_number(&file, 77, 4);
    put(&file, "", 1);
    put_type(&file, 42);
    put(&file, "LMT", 4);
    put_header(&file, '2', 0, 2, 3, 4);
    put_number(&file, 1000, 8);
    put_number(&file, 5000, 8);
    put(&file, "\1\2", 2);
    put_type(&file, 3600);
    put_type(&file, 7200);
    put_type(&file, -1800);
    put(&file, "ABC", 4);
    put(&file, "\n", 1);
    put(&file, rule, strlen(rule));
    put(&file, "\n", 1);
    return file;
}

static void write_file(const char *name, const file_text *file)
{
    FILE *out = fopen(test_text("%s/%s", folder, name), "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(file->data, 1, file->size, out), file->size);
    assert_int_equal(fclose(out), 0);
}

static pawl_code read_zone(const file_text *file, pawl__zone **zone, pawl_error *error)
{
    write_file("Made/Up", file);
    return pawl__zone_create(folder, PAWL_TEXT("Made/Up"), zone, error);
}

static void check_span(const pawl__zone *zone, int64_t at, pawl__zone_span wanted)
{
    pawl__zone_span span = pawl__zone_span_at(zone, at);
    if (span.begin != wanted.begin || span.end != wanted.end || span.offset != wanted.offset ||
        span.offset_before != wanted.offset_before)
        fail_msg("at %lld: %lld to %lld, %d after %d", (long long)at, (long long)span.begin,
                 (long long)span.end, span.offset, span.offset_before);
}

TEST(the_changes_of_a_file_are_its_spans)
{
    pawl__zone *zone = NULL;
    file_text   file = a_zone("");
    assert_int_equal(read_zone(&file, &zone, NULL), PAWL_OK);
    check_span(zone, -77, (pawl__zone_span){INT64_MIN, 1000, 3600, 3600});
    check_span(zone, 999, (pawl__zone_span){INT64_MIN, 1000, 3600, 3600});
    check_span(zone, 1000, (pawl__zone_span){1000, 5000, 7200, 3600});
    check_span(zone, 4999, (pawl__zone_span){1000, 5000, 7200, 3600});
    check_span(zone, 5000, (pawl__zone_span){5000, INT64_MAX, -1800, 7200});
    pawl__zone_destroy(zone);
}

/* 1970-03-29T01:00:00Z is 7520400, 1970-10-25T01:00:00Z is 25664400. */
TEST(behind_the_last_change_the_rule_goes_on)
{
    pawl__zone *zone = NULL;
    file_text   file = a_zone("CET-1CEST,M3.5.0,M10.5.0/3");
    assert_int_equal(read_zone(&file, &zone, NULL), PAWL_OK);
    check_span(zone, 4999, (pawl__zone_span){1000, 5000, 7200, 3600});
    check_span(zone, 5000, (pawl__zone_span){5000, 7520400, -1800, 7200});
    check_span(zone, 7520399, (pawl__zone_span){5000, 7520400, -1800, 7200});
    check_span(zone, 7520400, (pawl__zone_span){7520400, 25664400, 7200, 3600});
    check_span(zone, 25664400, (pawl__zone_span){25664400, 38970000, 3600, 7200});
    pawl__zone_destroy(zone);
    file = a_zone("<+0330>-3:30");
    assert_int_equal(read_zone(&file, &zone, NULL), PAWL_OK);
    check_span(zone, 1 << 30, (pawl__zone_span){5000, INT64_MAX, -1800, 7200});
    pawl__zone_destroy(zone);
}

/* Each prefix of a file, and each byte of its headers changed. */
TEST(a_file_that_is_no_zone_is_refused)
{
    file_text   file  = a_zone("CET-1");
    pawl__zone *zone  = NULL;
    pawl_error  error = PAWL_ERROR_INIT;
    for (size_t size = 0; size < file.size; size++) {
        file_text part = file;
        part.size      = size;
        assert_int_equal(read_zone(&part, &zone, &error), PAWL_EDECODE);
        assert_null(zone);
    }
    char said[200];
    snprintf(
        said, sizeof said,
        "time zone 'Made/Up': its file in %s is not a TZif file of version 2 without leap seconds",
        folder);
    assert_string_equal(error.text, said);
    for (size_t at = 0; at < file.size; at++)
        for (int bits = 1; bits < 256; bits *= 128) {
            file_text part = file;
            part.data[at] ^= (unsigned char)bits;
            if (read_zone(&part, &zone, &error) == PAWL_OK)
                pawl__zone_span_at(zone, INT64_C(1) << 40);
            pawl__zone_destroy(zone);
        }
}

TEST(each_part_of_a_file_is_checked)
{
    pawl__zone  *zone   = NULL;
    const size_t second = 44 + 4 + 1 + 6 + 4; /* where the header of 64 bits begins */
    const struct {
        size_t        at;
        unsigned char byte;
    } wrong[] = {
        {4, '1'},                /* version of the first header */
        {second, 'X'},           /* no second one */
        {second + 20 + 11, 1},   /* leap seconds */
        {second + 20 + 19, 0},   /* no type */
        {second + 44 + 6, 0x20}, /* the first change behind the second */
        {second + 44 + 16, 3},   /* a type that is not there */
        {second + 44 + 40, 'x'}, /* no end of line before the rule */
    };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        file_text file         = a_zone("CET-1");
        file.data[wrong[i].at] = wrong[i].byte;
        if (read_zone(&file, &zone, NULL) != PAWL_EDECODE)
            fail_msg("byte %zu", wrong[i].at);
    }
    file_text file = a_zone("CET");
    assert_int_equal(read_zone(&file, &zone, NULL), PAWL_EDECODE);
    file = a_zone("CET-1");
    file.size -= strlen("\nCET-1\n");
    file.data[second + 20 + 11] = 1;
    for (size_t i = 0; i < 12; i++)
        put(&file, "", 1);
    put(&file, "\nCET-1\n", 7);
    assert_int_equal(read_zone(&file, &zone, NULL), PAWL_EDECODE); /* a leap second, well-formed */
    file.size = 0;
    put_header(&file, '2', 0, 0, 1, 0);
    put_type(&file, 0);
    put_header(&file, '2', 0, 0, 0, 0);
    put(&file, "\nCET-1\n", 7);
    assert_int_equal(read_zone(&file, &zone, NULL), PAWL_EDECODE); /* well-formed, without a type */
}

/* A zone with one change, of two types. */
static file_text one_change(int64_t at, int32_t first, int32_t second)
{
    file_text file = {.size = 0};
    put_header(&file, '2', 0, 0, 1, 0);
    put_type(&file, 0);
    put_header(&file, '2', 0, 1, 2, 0);
    put_number(&file, at, 8);
    put(&file, "\1", 1);
    put_type(&file, first);
    put_type(&file, second);
    put(&file, "\n\n", 2);
    return file;
}

TEST(times_and_offsets_beyond_the_format_are_refused)
{
    const int64_t most = INT64_C(1) << 59;
    const struct {
        int64_t   at;
        int32_t   first, second;
        pawl_code code;
    } files[] = {
        {-most, -89999, 93599, PAWL_OK}, {most, 93599, -89999, PAWL_OK},
        {-most - 1, 0, 0, PAWL_EDECODE}, {most + 1, 0, 0, PAWL_EDECODE},
        {INT64_MIN, 0, 0, PAWL_EDECODE}, {INT64_MAX, 0, 0, PAWL_EDECODE},
        {0, -90000, 0, PAWL_EDECODE},    {0, 93600, 0, PAWL_EDECODE},
        {0, 0, -90000, PAWL_EDECODE},    {0, 0, 93600, PAWL_EDECODE},
    };
    for (size_t i = 0; i < COUNT(files); i++) {
        pawl__zone *zone = NULL;
        file_text   file = one_change(files[i].at, files[i].first, files[i].second);
        if (read_zone(&file, &zone, NULL) != files[i].code)
            fail_msg("file %zu", i);
        pawl__zone_destroy(zone);
    }
}

TEST(a_name_leads_nowhere_else)
{
    static const char *const names[] = {"/etc/passwd", "../zone", "Europe/../Berlin",
                                        "a b",         "CET-1\n", "Europe/Berlin;"};
    pawl__zone              *zone    = NULL;
    pawl_error               error   = PAWL_ERROR_INIT;
    for (size_t i = 0; i < COUNT(names); i++) {
        assert_int_equal(pawl__zone_create(folder, pawl_text_of(names[i]), &zone, &error),
                         PAWL_EINVAL);
        char said[200];
        snprintf(said, sizeof said, "'%s' is not the name of a time zone, such as Europe/Berlin",
                 names[i]);
        assert_string_equal(error.text, said);
    }
    char long_name[202];
    memset(long_name, 'a', sizeof long_name);
    pawl_text text = {.data = long_name, .size = 201};
    assert_int_equal(pawl__zone_create(folder, text, &zone, &error), PAWL_EINVAL);
    text.size = 200;
    assert_int_equal(pawl__zone_create(folder, text, &zone, &error), PAWL_ENOTFOUND);
    assert_int_equal(pawl__zone_create(folder, PAWL_TEXT("Made/Other"), &zone, &error),
                     PAWL_ENOTFOUND);
    char said[200];
    snprintf(said, sizeof said, "time zone 'Made/Other': there is no file of it in %s", folder);
    assert_string_equal(error.text, said);
    assert_int_equal(pawl__zone_create(folder, PAWL_TEXT("Made"), &zone, &error), PAWL_EDECODE);
    assert_int_equal(pawl__zone_create(folder, PAWL_TEXT("UTC"), &zone, &error), PAWL_OK);
    assert_null(zone);
}

/* Well-formed, but for its count of letters. */
TEST(a_large_file_is_not_read)
{
    static const char rule[] = "\nCET-1\n";
    pawl__zone       *zone   = NULL;
    for (int extra = 0; extra < 2; extra++) {
        int       letters = PAWL__ZONE_FILE_SIZE_MAX - 44 - 6 - 44 - 6 - 7 + extra;
        file_text file    = {.size = 0};
        put_header(&file, '2', 0, 0, 1, 0);
        put_type(&file, 0);
        put_header(&file, '2', 0, 0, 1, letters);
        put_type(&file, 3600);
        write_file("Made/Up", &file);
        FILE *out = fopen(test_text("%s/Made/Up", folder), "r+b");
        assert_non_null(out);
        assert_int_equal(fseek(out, (long)file.size + letters, SEEK_SET), 0);
        assert_int_equal(fwrite(rule, 1, 7, out), 7);
        assert_int_equal(fclose(out), 0);
        assert_int_equal(pawl__zone_create(folder, PAWL_TEXT("Made/Up"), &zone, NULL),
                         extra == 0 ? PAWL_OK : PAWL_EDECODE);
        pawl__zone_destroy(zone);
    }
}

TEST(without_memory_there_is_no_zone)
{
    file_text   file = a_zone("CET-1");
    pawl__zone *zone = NULL;
    write_file("Made/Up", &file);
    long n = 1;
    for (;; n++) {
        pawl_error error = PAWL_ERROR_INIT;
        fault_memory_begin(n);
        pawl_code code = pawl__zone_create(folder, PAWL_TEXT("Made/Up"), &zone, &error);
        fault_memory_pause();
        if (!fault_memory_was_reached())
            break;
        assert_int_equal(code, PAWL_ENOMEM);
        assert_string_equal(error.text, "time zone 'Made/Up': out of memory");
        assert_null(zone);
        assert_int_equal(fault_memory_live(), 0);
    }
    assert_int_equal(n, 3);
    pawl__zone_destroy(zone);
}

/* ---- Rules -------------------------------------------------------------- */

TEST(rules_that_are_none)
{
    static const char *const wrong[] = {
        "",
        "C",
        "CE-1",
        "<CET-1",
        "CET",
        "CET-",
        "CET-25",
        "CET-1:60",
        "CET-1x",
        "CET-1CE,M3.5.0,M10.5.0",
        "CET-1CEST",
        "CET-1CEST,M3.5.0",
        "CET-1CEST,M3.5.0,",
        "CET-1CEST,M13.5.0,M10.5.0",
        "CET-1CEST,M0.5.0,M10.5.0",
        "CET-1CEST,M3.6.0,M10.5.0",
        "CET-1CEST,M3.0.0,M10.5.0",
        "CET-1CEST,M3.5.7,M10.5.0",
        "CET-1CEST,M3.5,M10.5.0",
        "CET-1CEST,J0,J100",
        "CET-1CEST,J1,J366",
        "CET-1CEST,1,366",
        "CET-1CEST,M3.5.0/168,M10.5.0",
        "CET-1CEST,M3.5.0,M10.5.0/3x",
        "CET-1CEST-99,M3.5.0,M10.5.0",
        "CET-00001",
    };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        pawl__tz_rule rule;
        if (pawl__tz_rule_parse(pawl_text_of(wrong[i]), &rule))
            fail_msg("'%s' is read", wrong[i]);
    }
}

/* Rule, a moment, the change before it, the one after it, and its offset. */
static const struct {
    const char *rule, *at, *begin, *end;
    int32_t     offset, offset_before;
} spans[] = {
    {"CET-1CEST,M3.5.0,M10.5.0/3", "2026-06-01T00:00:00Z", "2026-03-29T01:00:00Z",
     "2026-10-25T01:00:00Z", 7200, 3600},
    {"CET-1CEST,M3.5.0,M10.5.0/3", "2026-12-01T00:00:00Z", "2026-10-25T01:00:00Z",
     "2027-03-28T01:00:00Z", 3600, 7200},
    {"CET-1CEST,M3.5.0,M10.5.0/3", "2026-01-01T00:00:00Z", "2025-10-26T01:00:00Z",
     "2026-03-29T01:00:00Z", 3600, 7200},
    {"EST5EDT,M3.2.0,M11.1.0", "2026-06-01T00:00:00Z", "2026-03-08T07:00:00Z",
     "2026-11-01T06:00:00Z", -14400, -18000},
    /* In the south the year begins in summer. */
    {"<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-01-01T00:00:00Z", "2025-10-04T15:30:00Z",
     "2026-04-04T15:00:00Z", 39600, 37800},
    /* The winter is the exception, Dublin's. */
    {"IST-1GMT0,M10.5.0,M3.5.0/1", "2026-01-01T00:00:00Z", "2025-10-26T01:00:00Z",
     "2026-03-29T01:00:00Z", 0, 3600},
    /* The clock of a change may lie before or behind its day. */
    {"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-06-01T00:00:00Z", "2026-03-29T01:00:00Z",
     "2026-10-25T01:00:00Z", -3600, -7200},
    {"IST-2IDT,M3.4.4/26,M10.5.0", "2026-06-01T00:00:00Z", "2026-03-27T00:00:00Z",
     "2026-10-24T23:00:00Z", 10800, 7200},
    /* Day 60 is 1 March by J, and in a leap year 29 February is day 59 from 0. */
    {"AAA0BBB,J60/0,J300/0", "2028-06-01T00:00:00Z", "2028-03-01T00:00:00Z", "2028-10-26T23:00:00Z",
     3600, 0},
    {"AAA0BBB,J60/0,J300/0", "2027-06-01T00:00:00Z", "2027-03-01T00:00:00Z", "2027-10-26T23:00:00Z",
     3600, 0},
    {"AAA0BBB,J59/0,J300/0", "2028-06-01T00:00:00Z", "2028-02-28T00:00:00Z", "2028-10-26T23:00:00Z",
     3600, 0},
    {"AAA0BBB,59/0,299/0", "2028-06-01T00:00:00Z", "2028-02-29T00:00:00Z", "2028-10-25T23:00:00Z",
     3600, 0},
    /* Summer all the year: the end of one and the beginning of the next are one moment. */
    {"XXX3EDT4,0/0,J365/23", "2026-06-01T00:00:00Z", "2026-01-01T03:00:00Z", "2027-01-01T03:00:00Z",
     -14400, -14400},
};

static int64_t seconds_of(const char *text)
{
    pawl_time time = 0;
    assert_int_equal(pawl_time_parse(pawl_text_of(text), &time, NULL), PAWL_OK);
    return time / 1000000;
}

TEST(a_rule_goes_on_for_ever)
{
    for (size_t i = 0; i < COUNT(spans); i++) {
        pawl__tz_rule rule;
        assert_true(pawl__tz_rule_parse(pawl_text_of(spans[i].rule), &rule));
        int64_t       at        = seconds_of(spans[i].at);
        const int64_t moments[] = {at, seconds_of(spans[i].begin), seconds_of(spans[i].end) - 1};
        for (size_t k = 0; k < 3; k++) {
            pawl__zone_span span = pawl__tz_rule_span(&rule, moments[k]);
            if (span.begin != moments[1] || span.end != moments[2] + 1 ||
                span.offset != spans[i].offset || span.offset_before != spans[i].offset_before)
                fail_msg("%s at %s (%zu): %lld to %lld, %d after %d", spans[i].rule, spans[i].at, k,
                         (long long)span.begin, (long long)span.end, span.offset,
                         span.offset_before);
        }
    }
}

static int make_folder(void **state)
{
    if (mkdtemp(folder) == NULL)
        return 1;
    return mkdir(test_text("%s/Made", folder), 0700);
}

static int remove_folder(void **state)
{
    unlink(test_text("%s/Made/Up", folder));
    rmdir(test_text("%s/Made", folder));
    return rmdir(folder);
}

int main(void)
{
    fault_memory_install();
    return tests_run(make_folder, remove_folder);
}
