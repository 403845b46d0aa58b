/* fuzz_saved.c - files that the command reads: options of `pawl run --config`, what an interrupted
 * `pawl saga verify-upgrade` saved, a body of `pawl dead edit`, lines of `pawl send`.
 *
 * Input: the file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz/fuzz.h"

#include "cli/run/run.h"
#include "cli/saga/saga.h"
#include "orders.h"

static void check_settings(const char *path, pawl_arena *arena)
{
    pawl__settings_words  words    = {.file = path};
    pawl_error            error    = PAWL_ERROR_INIT;
    pawl__settings       *settings = NULL;
    pawl__setting_list    list     = {.count = 0};
    pawl_endpoint_options options  = {.options_size = sizeof options};
    for (size_t i = 0; i < pawl__number_count; i++)
        words.numbers[i] = -1;
    FUZZ_CHECK(pawl__settings_create(&words, pawl__run_verb_options, arena, &settings, &error) ==
               PAWL_OK);
    pawl_code code = pawl__settings_read(settings, &orders_application, &error);
    if (code != PAWL_OK) {
        FUZZ_CHECK(code != PAWL_ENOMEM && error.text[0] != '\0');
        return;
    }
    const pawl_endpoint_spec *endpoint = orders_application.endpoints[0];
    (void)pawl__settings_fill(settings, endpoint->name, &options, &error);
    (void)pawl__settings_list(settings, endpoint, &list, &error);
    (void)pawl__settings_list_health(settings, &list, &error);
}

/* The report is written again as it was read. */
static void check_report(const pawl__verify_report *report)
{
    yyjson_mut_doc *doc   = pawl__json_create();
    yyjson_mut_val *found = yyjson_mut_arr(doc);
    FUZZ_CHECK(doc != NULL && found != NULL);
    pawl__verify_json(report, true, doc, found);
    pawl__verify_json(report, false, doc, found);
    FUZZ_CHECK(yyjson_mut_arr_size(found) == report->count);
    (void)pawl__verify_findings(report);
    yyjson_mut_doc_free(doc);
}

static void check_resume(const char *path, pawl_arena *arena)
{
    const pawl__texts   removed = {.count = 0};
    pawl__verify_cursor cursor  = {.of = {[0] = PAWL_TEXT("s"), [2] = PAWL_TEXT("a")}};
    pawl__verify_report report  = {.arena = arena, .removed = &removed};
    pawl_error          error   = PAWL_ERROR_INIT;
    pawl_code           code    = pawl__verify_resume_read(path, &cursor, &report, &error);
    if (code == PAWL_OK)
        check_report(&report);
    else
        FUZZ_CHECK(code != PAWL_ENOMEM && error.text[0] != '\0');
}

static void check_lines(const char *path)
{
    pawl__input input;
    pawl_text   line  = {.size = 0};
    pawl_error  error = PAWL_ERROR_INIT;
    FUZZ_CHECK(pawl__input_open(&input, path, &error) == PAWL_OK);
    while (pawl__input_line(&input, &line, &error) == PAWL_OK && line.data != NULL)
        (void)pawl__json_check(line, &error);
    pawl__input_close(&input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input  in    = {data, size};
    pawl_text   whole = fuzz_rest(&in);
    const char *path  = fuzz_file(whole);
    pawl_arena *arena = fuzz_arena();
    check_settings(path, arena);
    check_resume(path, arena);
    check_lines(path);
    pawl_arena_destroy(arena);
    return 0;
}
