/* replay_files.h - for the tests of the event logs: a folder, ways to write a log there and read
 * it, and a sample.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPLAY_FILES_H
#define REPLAY_FILES_H
#include <unistd.h>
#include <zlib.h>

#include "../../../examples/replay/log.h"
#include "support/tests.h"

static char folder[] = "/tmp/pawl_replay_log_XXXXXX";
static char log_path[sizeof folder + 32];

static inline int make_folder(void **state)
{
    if (mkdtemp(folder) == NULL)
        return -1;
    /* The name says nothing about the format. */
    snprintf(log_path, sizeof log_path, "%s/events.log", folder);
    return 0;
}

static inline int remove_folder(void **state)
{
    unlink(log_path);
    return rmdir(folder);
}

static inline void write_log(const void *data, size_t size)
{
    FILE *file = fopen(log_path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static inline void write_gzipped(const char *text)
{
    gzFile file = gzopen(log_path, "wb");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, text, (unsigned)strlen(text)), strlen(text));
    assert_int_equal(gzclose(file), Z_OK);
}

static inline size_t read_back(char *data, size_t size_max)
{
    FILE *file = fopen(log_path, "rb");
    assert_non_null(file);
    size_t size = fread(data, 1, size_max, file);
    assert_in_range(size, 1, size_max - 1);
    fclose(file);
    return size;
}

static inline pawl_code read_with(const replay_columns *columns, replay_log *log, pawl_error *error)
{
    return replay_log_read(log_path, columns, NULL, NULL, log, error);
}

static inline void read_good(const replay_columns *columns, replay_log *log)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_code  code  = read_with(columns, log, &error);
    if (code != PAWL_OK)
        fail_msg("%s", error.text);
}

static inline void read_text(const char *text, replay_log *log)
{
    write_log(text, strlen(text));
    read_good(NULL, log);
}

static inline uint64_t fingerprint_of(const char *text)
{
    replay_log log;
    read_text(text, &log);
    uint64_t fingerprint = log.fingerprint;
    replay_log_free(&log);
    return fingerprint;
}

/* Event `i` in sorted order as "case|activity|group|time". */
static inline const char *event_text(const replay_log *log, size_t i)
{
    static char         text[400];
    const replay_event *event = &log->events[i];
    char                when[PAWL_TIME_TEXT_SIZE + 1];
    pawl_time_format(event->time, when);
    snprintf(text, sizeof text, "%s|%s|%s|%s", log->cases[event->case_index].data,
             log->activities[event->activity_index].data, log->groups[event->group_index].data,
             when);
    return text;
}

/* The error is one line that names the file and says `expected`. */
static inline void assert_refused(const replay_columns *columns, const char *expected)
{
    replay_log log;
    pawl_error error = PAWL_ERROR_INIT;
    assert_int_equal(read_with(columns, &log, &error), PAWL_EINPUT);
    assert_int_equal(error.code, PAWL_EINPUT);
    if (strstr(error.text, expected) == NULL)
        fail_msg("expected '%s' in '%s'", expected, error.text);
    assert_ptr_equal(strstr(error.text, log_path), error.text);
    assert_null(strpbrk(error.text, "\r\n"));
    assert_null(log.events);
    assert_null(log.texts);
    assert_int_equal(read_with(columns, &log, NULL), PAWL_EINPUT);
}

#define HEADER "case:concept:name,concept:name,org:group,time:timestamp\n"

#define EVENT(activity, group, time)                               \
    "<event><string key=\"concept:name\" value=\"" activity "\"/>" \
    "<string key=\"org:group\" value=\"" group "\"/>"              \
    "<date key=\"time:timestamp\" value=\"" time "\"/></event>\n"
#define CASE(name) "<string key=\"concept:name\" value=\"" name "\"/>\n"

static const char xes_log[] =
    "<?xml version='1.0' encoding='UTF-8'?>\n<!-- a log -->\n"
    "<log xes.version=\"1.0\" xmlns=\"http://www.xes-standard.org/\">\n"
    "<extension name=\"Time\" prefix=\"time\" uri=\"http://www.xes-standard.org/time.xesext\"/>\n"
    "<global scope=\"trace\">" CASE(
        "DEFAULT") "</global>\n"
                   "<global scope=\"event\">" EVENT(
                       "DEFAULT", "DEFAULT",
                       "none") "</global>\n"
                               "<classifier name=\"Activity\" keys=\"concept:name\"/>\n" CASE("the log itself") "<trace>" CASE("c1") "<string key=\"channel\" value=\"desk\"/>\n" EVENT("b", "g &amp; h", "2020-01-02T00:00:00.000+00:00") "<event><string key=\"concept:name\" value=\"a\">" CASE(
                                   "nested") "<date key=\"time:timestamp\" value=\"nested\"/></string>"
                                             "<date key=\"time:timestamp\" value=\"2020-01-01T00:00:00Z\"/><list key=\"org:group\"/></event>"
                                             "</trace>\n<trace>" CASE(
                                                 "nothing happened") "</trace>\n"
                                                                     "<trace>" EVENT(
                                                                         "c", "",
                                                                         "2020-01-03T00:00:00Z")
                                                                         CASE(
                                                                             "named late") "</trace>\n"
                                                                                           "<trace>" CASE(
                                                                                               "c1")
                                                                                               EVENT(
                                                                                                   "d",
                                                                                                   "g &amp; h",
                                                                                                   "2020-01-04T00:00:00Z") "</trace>\n"
                                                                                                                           "</log>\n";

#endif
