/* test_replay_damage.c - event logs that are cut, damaged, out of reach or too
 * large for the memory there is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_memory.h"
#include "support/modes.h"
#include "unit/examples/replay_files.h"

#include <sys/stat.h>
#include <time.h>

/* ---- Files ------------------------------------------------------------- */

TEST(a_path_that_is_no_file_is_refused)
{
    replay_log log;
    must_fail_with(replay_log_read(folder, NULL, NULL, NULL, &log, world_error()), PAWL_EINPUT,
                   test_text("%s: is a directory", folder));
    unlink(log_path);
    assert_refused(NULL, "cannot be opened: No such file or directory");

    char long_path[2000];
    memset(long_path, 'p', sizeof long_path);
    long_path[sizeof long_path - 1] = '\0';
    must_fail_with(replay_log_read(long_path, NULL, NULL, NULL, &log, world_error()), PAWL_EINPUT,
                   "ppp: cannot be opened: File name too long");
}

TEST(an_unreadable_file_is_refused)
{
    write_log(HEADER, strlen(HEADER));
    assert_int_equal(chmod(log_path, 0), 0);
    assert_true(modes_count(true));
    assert_refused(NULL, "cannot be opened: Permission denied");
    assert_true(modes_count(false));
    unlink(log_path);
}

TEST(cut_gzip_is_refused)
{
    char data[4000];
    write_gzipped(xes_log);
    size_t size = read_back(data, sizeof data);
    for (size_t cut = 0; cut < size; cut++) {
        write_log(data, cut);
        assert_refused(NULL, cut < 2 ? "" : "the gzip data is cut: it ends too early");
    }
    write_gzipped(HEADER "a,x,g,2020-01-01T00:00:00Z\n");
    size = read_back(data, sizeof data);
    for (size_t cut = 2; cut < size; cut++) {
        write_log(data, cut);
        assert_refused(NULL, "the gzip data is cut: it ends too early");
    }
}

TEST(damaged_gzip_is_refused)
{
    char data[4000];
    write_log("\x1F\x8Bthis is no gzip data", 23);
    assert_refused(NULL, "the gzip data is damaged: ");
    write_gzipped(xes_log);
    size_t size = read_back(data, sizeof data);
    data[size - 6] ^= 1; /* the checksum */
    write_log(data, size);
    assert_refused(NULL, "the gzip data is damaged: ");
}

TEST(cut_xes_is_refused)
{
    size_t size = strlen(xes_log);
    for (size_t cut = 0; cut < size - 1; cut++) { /* the last byte is a line's end */
        write_log(xes_log, cut);
        assert_refused(NULL, "");
    }
}

typedef struct progress_seen {
    int      calls;
    uint64_t done;
    uint64_t total;
} progress_seen;

static void note_progress(uint64_t done, uint64_t total, void *context)
{
    progress_seen *seen = context;
    assert_true(done >= seen->done && done <= total);
    *seen = (progress_seen){seen->calls + 1, done, total};
}

/* Fields of random size put the borders of the pieces everywhere. */
TEST(pieces_make_no_difference)
{
    uint64_t    seed = (uint64_t)time(NULL);
    pawl_random random;
    pawl_random_seed(&random, seed);
    print_message("seed %llu\n", (unsigned long long)seed);
    enum { ROWS = 3000 };
    FILE *file = fopen(log_path, "wb");
    assert_non_null(file);
    fputs("note,case:concept:name,concept:name,org:group,time:timestamp\r\n", file);
    for (int i = 0; i < ROWS; i++) {
        fputs("\"", file);
        for (uint64_t n = pawl_random_below(&random, 200); n > 0; n--)
            fputs(n % 7 == 0 ? "\"\"" : n % 11 == 0 ? "\r\n" : n % 3 == 0 ? "," : "\xC3\xA4", file);
        fprintf(file, "\",case %d,\"a \"\"%d\"\", \r\nb\",g,2020-01-01T00:00:%02d.%06dZ\r\n", i, i,
                i / 60, i % 60);
    }
    assert_int_equal(fclose(file), 0);
    replay_log    log;
    progress_seen seen  = {0};
    pawl_error    error = PAWL_ERROR_INIT;
    pawl_code     code  = replay_log_read(log_path, NULL, note_progress, &seen, &log, &error);
    if (code != PAWL_OK)
        fail_msg("%s", error.text);
    assert_int_equal(log.event_count, ROWS);
    for (int i = 0; i < ROWS; i++)
        assert_string_equal(event_text(&log, (size_t)i),
                            test_text("case %d|a \"%d\", \r\nb|g|2020-01-01T00:00:%02d.%06dZ", i, i,
                                      i / 60, i % 60));
    assert_true(seen.calls > 5);
    assert_true(seen.total > 0 && seen.done == seen.total);
    replay_log_free(&log);
}

/* ---- Damage and want of memory ------------------------------------------ */

static const char csv_log[] = HEADER "c1,\"a, \"\"b\"\"\",g,2011-10-11 13:42:22.688000+02:00\r\n"
                                     "c2,\"x\ny\",,2011-10-11T13:42:22Z\nc1,z,\xC3\xA4,2012-01-01 "
                                     "00:00\n";

static void mutate(pawl_random *random, char *data, size_t *size, size_t size_max)
{
    static const char pieces[] = "\"\n\r,<>/&;='\0\xFF\xC3"
                                 "09-:TZe";
    size_t            at       = (size_t)pawl_random_below(random, *size);
    switch (pawl_random_below(random, 4)) {
    case 0: data[at] = pieces[pawl_random_below(random, sizeof pieces - 1)]; break;
    case 1: data[at] ^= (char)(1 << pawl_random_below(random, 8)); break;
    case 2: /* cut out a piece */
        memmove(data + at, data + at + 1, *size - at - 1);
        *size -= *size > 1;
        break;
    default: { /* repeat a piece */
        size_t length = (size_t)pawl_random_below(random, *size - at) + 1;
        if (*size + length <= size_max) {
            memmove(data + at + length, data + at, *size - at);
            *size += length;
        }
    }
    }
}

static void read_mutant(const char *data, size_t size)
{
    replay_log log;
    pawl_error error = PAWL_ERROR_INIT;
    write_log(data, size);
    pawl_code code = read_with(NULL, &log, &error);
    if (code == PAWL_OK) {
        assert_true(log.event_count > 0 && log.case_count > 0 && log.group_count > 0);
        for (size_t i = 0; i < log.event_count; i++)
            assert_true(log.events[i].case_index < log.case_count &&
                        log.events[i].group_index < log.group_count);
        replay_log_free(&log);
        return;
    }
    assert_int_equal(code, PAWL_EINPUT);
    assert_ptr_equal(strstr(error.text, log_path), error.text);
    assert_null(strpbrk(error.text, "\r\n"));
    assert_true(pawl_text_is_valid(pawl_text_of(error.text), NULL));
}

TEST(damage_never_crashes)
{
    const char *const rounds_text = getenv("PAWL_REPLAY_ROUNDS");
    const char *const seed_text   = getenv("PAWL_REPLAY_SEED");
    int               rounds      = rounds_text != NULL ? atoi(rounds_text) : 1000;
    uint64_t    seed = seed_text != NULL ? strtoull(seed_text, NULL, 10) : (uint64_t)time(NULL);
    char        gzipped[4000], data[8000];
    pawl_random random;
    write_gzipped(csv_log);
    size_t gzipped_size = read_back(gzipped, sizeof gzipped);
    print_message("again: PAWL_REPLAY_SEED=%llu PAWL_REPLAY_ROUNDS=%d\n", (unsigned long long)seed,
                  rounds);
    pawl_random_seed(&random, seed);
    for (int round = 0; round < rounds; round++) {
        const char *from = round % 3 == 0 ? csv_log : round % 3 == 1 ? xes_log : gzipped;
        size_t      size = round % 3 == 2 ? gzipped_size : strlen(from);
        memcpy(data, from, size);
        for (uint64_t n = pawl_random_below(&random, 6) + 1; n > 0; n--)
            mutate(&random, data, &size, sizeof data);
        read_mutant(data, size);
    }
}

static void assert_survives_want_of_memory(const char *text)
{
    replay_log log;
    pawl_error error = PAWL_ERROR_INIT;
    write_log(text, strlen(text));
    int       allowed = 0;
    pawl_code code    = PAWL_ENOMEM;
    fault_memory_install();
    for (; code == PAWL_ENOMEM; allowed++) {
        fault_memory_begin(allowed + 1);
        code = read_with(NULL, &log, &error);
        fault_memory_pause();
    }
    pawl_allocator_set(NULL);
    if (code != PAWL_OK)
        fail_msg("%s", error.text);
    assert_false(fault_memory_was_reached()); /* the run passed because no call failed */
    assert_true(allowed > 15);
    replay_log_free(&log);
}

TEST(want_of_memory_is_reported)
{
    assert_survives_want_of_memory(csv_log);
    assert_survives_want_of_memory(xes_log);
}

int main(void)
{
    return tests_run(make_folder, remove_folder);
}
