/* test_replay_log.c - the two formats of event logs, good ones and bad ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "unit/examples/replay_files.h"

/* ---- CSV --------------------------------------------------------------- */

TEST(csv_fields_may_be_quoted)
{
    replay_log log;
    read_text("\xEF\xBB\xBFnote,\"case:concept:name\",concept:name,org:group,time:timestamp\r\n"
              "\"a, b\",c1,\"say \"\"hi\"\", then go\",G 1,2011-10-11 13:42:22.688000+02:00\r\n"
              "\"one\r\ntwo\nthree\",\"c,2\",\"up\ndown\",,2011-10-11T10:00:00Z\r\n"
              "\r\n"
              "\"\",c1,5\" pipe,\"\",2011-10-11 11:42:22.688\r\n",
              &log);
    assert_int_equal(log.event_count, 3);
    assert_string_equal(event_text(&log, 0), "c,2|up\ndown||2011-10-11T10:00:00.000000Z");
    assert_string_equal(event_text(&log, 1),
                        "c1|say \"hi\", then go|G 1|2011-10-11T11:42:22.688000Z");
    assert_string_equal(event_text(&log, 2), "c1|5\" pipe||2011-10-11T11:42:22.688000Z");
    assert_int_equal(log.case_count, 2);
    assert_int_equal(log.group_count, 2);
    assert_int_equal(log.activity_count, 3);
    replay_log_free(&log);
    assert_null(log.events);
    replay_log_free(&log);
}

TEST(csv_lines_may_end_in_any_way)
{
    uint64_t first =
        fingerprint_of(HEADER "a,x,g,2020-01-01T00:00:00Z\nb,y,,2020-01-02T00:00:00Z\n");
    assert_true(first ==
                fingerprint_of("case:concept:name,concept:name,org:group,time:timestamp\r\n"
                               "a,x,g,2020-01-01T00:00:00Z\r\n"
                               "b,y,,2020-01-02T00:00:00Z\r\n"));
    assert_true(first == fingerprint_of("case:concept:name,concept:name,org:group,time:timestamp\r"
                                        "a,x,g,2020-01-01T00:00:00Z\r"
                                        "b,y,,2020-01-02T00:00:00Z"));
    assert_true(first == fingerprint_of("\n\n" HEADER "\na,x,g,2020-01-01T00:00:00Z\n\n\n"
                                        "b,y,,\"2020-01-02T00:00:00Z\""));
    assert_true(first == fingerprint_of(HEADER "b,y,,2020-01-02T00:00:00Z\n"
                                               "a,x,g,2020-01-01T02:00:00+02:00\n"));
}

TEST(every_part_is_in_the_fingerprint)
{
    static const char *const logs[] = {
        HEADER "a,x,g,2020-01-01T00:00:00Z",        HEADER "b,x,g,2020-01-01T00:00:00Z",
        HEADER "a,y,g,2020-01-01T00:00:00Z",        HEADER "a,x,h,2020-01-01T00:00:00Z",
        HEADER "a,x,g,2020-01-01T00:00:00.000001Z", HEADER "ax,,g,2020-01-01T00:00:00Z",
    };
    enum { COUNT = COUNT(logs) };
    uint64_t seen[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        seen[i] = fingerprint_of(logs[i]);
        for (size_t before = 0; before < i; before++)
            assert_true(seen[before] != seen[i]);
    }
}

TEST(ties_stay_in_file_order)
{
    char   text[20000] = HEADER;
    size_t size        = strlen(text);
    for (int i = 0; i < 300; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "c%d,a,g,2020-01-0%dT00:00:00Z\n",
                                 i, 9 - i % 3);
    replay_log log;
    read_text(text, &log);
    assert_int_equal(log.event_count, 300);
    for (size_t i = 1; i < log.event_count; i++) {
        const replay_event *before = &log.events[i - 1], *event = &log.events[i];
        assert_true(before->time <= event->time);
        assert_true(before->time < event->time || before->order < event->order);
    }
    for (size_t i = 0; i < log.event_count; i++)
        assert_int_equal(log.events[i].case_index, log.events[i].order);
    replay_log_free(&log);
}

TEST(columns_can_be_named)
{
    const char    *text    = "Who,When,What\nann,2020-01-01 10:00,x\nbob,2020-01-01 09:00,y\n";
    replay_columns columns = {.case_id = "Who", .activity = "What", .time = "When"};
    replay_log     log;
    write_log(text, strlen(text));
    read_good(&columns, &log);
    assert_string_equal(event_text(&log, 0), "bob|y||2020-01-01T09:00:00.000000Z");
    assert_string_equal(event_text(&log, 1), "ann|x||2020-01-01T10:00:00.000000Z");
    assert_int_equal(log.group_count, 1);
    replay_log_free(&log);

    columns.group             = "Who"; /* one column in two roles */
    columns.group_is_required = true;
    read_good(&columns, &log);
    assert_string_equal(event_text(&log, 0), "bob|y|bob|2020-01-01T09:00:00.000000Z");
    replay_log_free(&log);

    columns.group = "Team";
    assert_refused(&columns, "there is no column 'Team'; found 'Who', 'When', 'What'");
}

typedef struct bad_log {
    const char *text;
    const char *expected;
} bad_log;

static const bad_log bad_csv[] = {
    {"", "is empty"},
    {"\n\r\n  ", "there is no column 'case:concept:name'; found '  '"},
    {"\n\n", "holds no events"},
    {HEADER, "holds no events"},
    {"case:concept:name,concept:name,org:group\na,b,c\n",
     "there is no column 'time:timestamp'; found 'case:concept:name', 'concept:name', 'org:group'"},
    {"a;b\nc", "there is no column 'case:concept:name'; found 'a;b'"},
    {"\"a\nb\",c\n1,2\n", "found 'a?b', 'c'"},
    {"concept:name,case:concept:name,concept:name,time:timestamp\n",
     "line 1: two columns are named 'concept:name'"},
    {HEADER "a,x,g,2020-01-01T00:00:00Z\na,x,g,soon\n",
     "line 3: bad timestamp: 'soon' is not a time"},
    {HEADER "\"a\n\",x,\"g\n\",2020-13-01T00:00:00Z\n", "line 4: bad timestamp: '2020-13-01T00"},
    {HEADER "a,x,g,0001-01-01T00:00:00+01:00\n", "line 2: bad timestamp: '0001-01-01T00:00:00+01:"},
    {"\r\n" HEADER "\r\na,x,g,2020-01-01T00:00:00Z\r\n\r\na,x,g,no\r\n", "line 6: bad timestamp"},
    {HEADER "a,x,g,\"2020\n\"\n", "line 2: bad timestamp: '2020?' is not a time"},
    {HEADER "a,x,g,\n", "line 2: the event has no time ('time:timestamp')"},
    {HEADER ",x,g,2020-01-01T00:00:00Z\n", "line 2: the event has no case id"},
    {HEADER "a,x,g,2020-01-01T00:00:00Z\n\na,x,g\n", "line 4: the row has 3 fields, the header 4"},
    {HEADER "a,x,g,2020-01-01T00:00:00Z,\n", "line 2: the row has 5 fields, the header 4"},
    {HEADER "a,x,g,2020-01-01T00:00:00Z\n\"\"", "line 3: the row has 1 fields, the header 4"},
    {HEADER "a,x\n,\"g\n\n,2020-01-01T00:00:00Z\n", "line 2: the row has 2 fields"},
    {HEADER "a,x,\"g,2020-01-01T00:00:00Z\nb\n", "line 2: the quote that opens field 3 is never"},
    {HEADER "a,x,\"g\"g,2020-01-01T00:00:00Z\n",
     "line 2: text follows the closing quote of field 3"},
    {HEADER "a\xFF,x,g,2020-01-01T00:00:00Z\n", "line 2: the case id holds text that is not UTF-8"},
    {HEADER "a,x,\xC3,2020-01-01T00:00:00Z\n", "line 2: the group holds text that is not UTF-8"},
    {HEADER "a,\xED\xA0\x80,g,2020-01-01T00:00:00Z\n", "line 2: the activity holds text that is"},
};

TEST(bad_csv_is_refused)
{
    for (size_t i = 0; i < COUNT(bad_csv); i++) {
        write_log(bad_csv[i].text, strlen(bad_csv[i].text));
        assert_refused(NULL, bad_csv[i].expected);
    }
}

TEST(nul_is_refused)
{
    static const char text[] = HEADER "ab\0c,x,g,2020-01-01T00:00:00Z\n";
    write_log(text, sizeof text - 1);
    assert_refused(NULL, "line 2: the case id holds a NUL at byte 3");
    write_log("\xFF\xFE"
              "a\0,\0b\0\n",
              9);
    assert_refused(NULL, "there is no column 'case:concept:name'; found '??a?', '?b?'");
}

TEST(long_values_are_refused)
{
    char ids[3][700] = {{0}};
    memset(ids[0], 'x', 201);
    for (int i = 0; i < 201; i++) /* 200 characters are allowed, whatever their size */
        memcpy(ids[1] + 2 * i, "\xC3\xA4", 2);
    memcpy(ids[2], ids[1], 400);
    char text[100000];
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, HEADER "%s,x,g,2020-01-01T00:00:00Z\n", ids[i]);
        write_log(text, strlen(text));
        assert_refused(NULL, "line 2: the case id has 201 characters, over the 200 allowed");
    }
    fingerprint_of(test_text(HEADER "%s,x,g,2020-01-01T00:00:00Z\n", ids[2]));
    snprintf(text, sizeof text, HEADER "a,x,%s,2020-01-01T00:00:00Z\n", ids[0]);
    write_log(text, strlen(text));
    assert_refused(NULL, "line 2: the group has 201 bytes, over the 200 allowed");
    memset(text, 'y', sizeof text);
    write_log(text, sizeof text);
    assert_refused(NULL, "line 1: field 1 is longer than the 65536 bytes allowed");
    memset(text, ',', sizeof text);
    write_log(text, sizeof text);
    assert_refused(NULL, "line 1: more than 4096 columns");
}

/* ---- XES --------------------------------------------------------------- */

TEST(xes_is_read)
{
    replay_log log;
    read_text(xes_log, &log);
    assert_int_equal(log.event_count, 4);
    assert_int_equal(log.case_count, 2);
    assert_int_equal(log.group_count, 2);
    assert_string_equal(event_text(&log, 0), "c1|a||2020-01-01T00:00:00.000000Z");
    assert_string_equal(event_text(&log, 1), "c1|b|g & h|2020-01-02T00:00:00.000000Z");
    assert_string_equal(event_text(&log, 2), "named late|c||2020-01-03T00:00:00.000000Z");
    assert_string_equal(event_text(&log, 3), "c1|d|g & h|2020-01-04T00:00:00.000000Z");
    uint64_t fingerprint = log.fingerprint;
    replay_log_free(&log);

    assert_true(fingerprint == fingerprint_of(HEADER "c1,b,g & h,2020-01-02 00:00:00\n"
                                                     "c1,a,,2020-01-01 00:00:00\n"
                                                     "named late,c,,2020-01-03 00:00:00\n"
                                                     "c1,d,g & h,2020-01-04 00:00:00\n"));
    write_gzipped(xes_log);
    read_good(NULL, &log);
    assert_true(fingerprint == log.fingerprint);
    replay_log_free(&log);
}

TEST(xes_may_be_in_utf_16)
{
    static const char text[] =
        "<log><trace>" CASE("c") EVENT("a", "g", "2020-01-01T00:00:00Z") "</trace></log>";
    for (size_t low = 0; low < 2; low++) { /* where the low byte of a pair is */
        char   wide[2 * sizeof text] = {0};
        size_t size                  = 2 * sizeof text;
        wide[low]                    = '\xFF';
        wide[1 - low]                = '\xFE';
        for (size_t i = 0; i < sizeof text - 1; i++)
            wide[2 + 2 * i + low] = text[i];
        replay_log log;
        write_log(wide, size);
        read_good(NULL, &log);
        assert_string_equal(event_text(&log, 0), "c|a|g|2020-01-01T00:00:00.000000Z");
        replay_log_free(&log);
    }
}

TEST(xes_keys_can_be_named)
{
    replay_columns columns = {.group = "case:channel", .group_is_required = true};
    replay_log     log;
    write_log(xes_log, strlen(xes_log));
    read_good(&columns, &log);
    assert_string_equal(event_text(&log, 0), "c1|a|desk|2020-01-01T00:00:00.000000Z");
    assert_string_equal(event_text(&log, 2), "named late|c||2020-01-03T00:00:00.000000Z");
    assert_string_equal(event_text(&log, 3), "c1|d||2020-01-04T00:00:00.000000Z");
    replay_log_free(&log);

    columns = (replay_columns){.group = "org:team"};
    read_good(&columns, &log);
    assert_int_equal(log.group_count, 1);
    assert_int_equal(log.groups[0].size, 0);
    replay_log_free(&log);
    columns.group_is_required = true;
    assert_refused(&columns, "no event has an attribute 'org:team'");
}

static const bad_log bad_xes[] = {
    {"<log>\n</log>", "holds no events"},
    {"<log>\n<trace>" CASE("a") "</trace></log>", "holds no events"},
    {" \n<html><body/></html>", "line 2: this is XML but no XES log: it begins with <html>"},
    {"<log>\n<trace>\n</log>", "line 3: malformed XML: mismatched tag"},
    {"<log>\n<trace>" CASE("a&b") "</trace></log>", "line 2: malformed XML: not well-formed"},
    {"<log></log><log/>", "line 1: malformed XML: junk after document element"},
    {"<log>\n<trace>" CASE("a\xFF") "</trace></log>", "line 2: malformed XML: not well-formed"},
    {"<log>\n" EVENT("x", "g", "2020-01-01T00:00:00Z") "</log>",
     "line 2: the event is outside of a trace"},
    {"<log>\n\n<trace>\n" EVENT("x", "g", "2020-01-01T00:00:00Z") "</trace></log>",
     "line 3: the trace has no case id (no attribute 'concept:name')"},
    {"<log>\n<trace>" CASE("") EVENT("x", "g", "2020-01-01T00:00:00Z") "</trace></log>",
     "line 2: the event has no case id"},
    {"<log><trace>" CASE("a") "<event>\n" CASE("x") "</event></trace></log>",
     "line 2: the event has no time ('time:timestamp')"},
    {"<log><trace>" CASE("a") "\n" EVENT("x", "g", "1 May") "</trace></log>",
     "line 3: bad timestamp: '1 May' is not a time"},
    {"<log><trace>" CASE("a") "<event>\n\n\n<date key=\"time:timestamp\" value=\"&#10;\"/>",
     "the XML ends before the log does: no element found"},
};

TEST(bad_xes_is_refused)
{
    for (size_t i = 0; i < COUNT(bad_xes); i++) {
        write_log(bad_xes[i].text, strlen(bad_xes[i].text));
        assert_refused(NULL, bad_xes[i].expected);
    }
}

TEST(hostile_xml_is_refused)
{
    size_t size = 2000000;
    char  *text = malloc(size);
    assert_non_null(text);
    memset(text, ' ', size);
    memcpy(text, "<log a=\"", 8); /* an element that never ends */
    write_log(text, size);
    assert_refused(NULL, "an XML element or comment is longer than");
    for (size_t i = 0; i + 5 <= size; i += 5)
        memcpy(text + i, "<log>", 5);
    write_log(text, size);
    assert_refused(NULL, "elements are nested too deeply");
    memset(text, ' ', size); /* long but harmless */
    size_t used = strlen(xes_log);
    memcpy(text, xes_log, used - 7);
    memcpy(text + size - 6, "</log>", 6);
    write_log(text, size);
    replay_log log;
    read_good(NULL, &log);
    assert_int_equal(log.event_count, 4);
    replay_log_free(&log);
    free(text);
}

int main(void)
{
    return tests_run(make_folder, remove_folder);
}
