/* output.c - prints the line of a failure, progress and JSON, and writes files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/calm.h"
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- Failures ------------------------------------------------------------- */

static const char *text_of(pawl_code code, const pawl_error *error)
{
    return error != NULL && error->text[0] != '\0' ? error->text : pawl_code_text(code);
}

/* Prints the text as one line; control characters in it, from a database or the user, are replaced. */
static int say(pawl_code code, const char *where, const char *text)
{
    char line[PAWL_URL_SIZE_MAX + PAWL_ERROR_TEXT_SIZE_MAX + 3];
    snprintf(line, sizeof line, "%s%s%s", where, where[0] != '\0' ? ": " : "", text);
    pawl__calm_line(line, strlen(line));
    fprintf(stderr, "pawl: %s\n", line);
    return pawl_code_exit(code);
}

int pawl__fail(pawl_code code, const pawl_error *error)
{
    return code != PAWL_OK ? say(code, "", text_of(code, error)) : pawl_code_exit(code);
}

void *pawl__must(void *made)
{
    if (made == NULL)
        exit(pawl__fail(PAWL_ENOMEM, NULL));
    return made;
}

const char *pawl__masked(const char *url, char *text, size_t size)
{
    pawl_arena *arena  = pawl_arena_create(PAWL_URL_SIZE_MAX * 2);
    pawl_text   masked = {0};
    if (arena != NULL)
        masked = pawl_url_masked(url, arena);
    snprintf(text, size, "%.*s", PAWL_TEXT_ARGS(masked));
    pawl_arena_destroy(arena);
    return text;
}

int pawl__fail_store(pawl_code code, const pawl_error *error, const char *url)
{
    if (code == PAWL_OK || url == NULL || pawl_code_exit(code) <= 2)
        return pawl__fail(code, error);
    char        masked[PAWL_URL_SIZE_MAX + 1];
    const char *text = text_of(code, error);
    pawl__masked(url, masked, sizeof masked);
    /* Drivers name a file by its path, without scheme and parameters. */
    char        path[sizeof masked];
    const char *colon = strchr(masked, ':');
    snprintf(path, sizeof path, "%s", colon != NULL ? colon + 1 : masked);
    path[strcspn(path, "?")] = '\0';
    if (path[0] != '\0' && strstr(text, path) != NULL)
        return pawl__fail(code, error);
    return say(code, masked, text);
}

static void say_list(FILE *out, const char *format, va_list list)
{
    char    text[PAWL_URL_SIZE_MAX + PAWL_ERROR_TEXT_SIZE_MAX], *line = text;
    va_list again;
    va_copy(again, list);
    int size = vsnprintf(text, sizeof text, format, list);
    if (size >= (int)sizeof text) {
        line = pawl__must(pawl_resize(NULL, (size_t)size + 1));
        (void)vsnprintf(line, (size_t)size + 1, format, again);
    }
    va_end(again);
    pawl__calm_line(line, strlen(line));
    fprintf(out, "%s\n", line); /* in one write: standard error has no buffer */
    if (line != text)
        pawl_free(line);
}

void pawl__say(FILE *out, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say_list(out, format, list);
    va_end(list);
}

/* ---- Progress ------------------------------------------------------------- */

#define DRAW_PERIOD PAWL_MILLISECONDS(100)
#define LINE_PERIOD PAWL_SECONDS(10)

int64_t pawl__steady_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return PAWL_SECONDS(now.tv_sec) + now.tv_nsec / 1000;
}

bool pawl__progress_is_due(pawl__progress_times *times, bool is_terminal, int64_t now)
{
    if (times->next == 0 && !is_terminal) /* work that is soon done says nothing */
        times->next = now + LINE_PERIOD;
    if (now < times->next)
        return false;
    times->next = now + (is_terminal ? DRAW_PERIOD : LINE_PERIOD);
    return true;
}

static pawl__progress_times progress_times;

void pawl__progress(const char *done, int64_t count, int64_t total)
{
    bool is_terminal = isatty(STDERR_FILENO) == 1;
    char of[40]      = "";
    if (!pawl__progress_is_due(&progress_times, is_terminal, pawl__steady_now()))
        return;
    if (total > 0)
        snprintf(of, sizeof of, " of %lld", (long long)total);
    fprintf(stderr, "%s%s %lld%s%s", is_terminal ? "\r\033[K" : "", done, (long long)count, of,
            is_terminal ? "" : "\n");
}

void pawl__progress_end(int64_t count)
{
    if (isatty(STDERR_FILENO) == 1 && count > 0)
        fputs("\r\033[K", stderr);
    progress_times.next = 0;
}

/* ---- JSON ----------------------------------------------------------------- */

/* If memory is short: with a context yyjson gets NULL, without one the process ends. */
static void *json_realloc(void *context, void *memory, size_t size_before, size_t size)
{
    (void)size_before;
    void *made = pawl_resize(memory, size);
    return context == NULL ? pawl__must(made) : made;
}

static void *json_malloc(void *context, size_t size)
{
    return json_realloc(context, NULL, 0, size);
}

static void json_free(void *context, void *memory)
{
    (void)context;
    pawl_free(memory);
}

static char             tells;
static const yyjson_alc json_allocator  = {json_malloc, json_realloc, json_free, NULL};
static const yyjson_alc input_allocator = {json_malloc, json_realloc, json_free, &tells};

yyjson_mut_doc *pawl__json_create(void)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(&json_allocator);
    yyjson_mut_doc_set_root(doc, yyjson_mut_obj(doc));
    return doc;
}

/* Prints JSON, and escapes DEL, C1 controls and characters that change the direction of text: a terminal obeys them,
 * and JSON does not escape them. They are only inside of strings. */
static void print_calm(const char *text, size_t size, FILE *out)
{
    size_t begin = 0, at = 0;
    while (at < size) {
        uint32_t point;
        size_t   unruly = pawl__unruly_size((const unsigned char *)text + at, size - at, &point);
        if (unruly > 0) {
            fwrite(text + begin, 1, at - begin, out);
            fprintf(out, "\\u%04X", point);
            begin = at + unruly;
        }
        at += pawl__character((const unsigned char *)text + at, size - at, &point);
    }
    fwrite(text + begin, 1, size - begin, out);
}

/* A name in an application's tables may have bytes that are not UTF-8: each becomes '?'. */
pawl_code pawl__json_print(yyjson_mut_doc *doc, FILE *out)
{
    size_t size = 0;
    char  *text = pawl__must(yyjson_mut_write_opts(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE,
                                                   &json_allocator, &size, NULL));
    yyjson_mut_doc_free(doc);
    pawl__make_utf8(text, size);
    print_calm(text, size, out);
    fputc('\n', out);
    pawl_free(text);
    return PAWL_OK;
}

/* Without YYJSON_READ_INSITU the reader does not write to the text, so the cast is sound. */
static yyjson_doc *read_json(pawl_text text, yyjson_read_flag flags, const yyjson_alc *allocator,
                             yyjson_read_err *why)
{
    return yyjson_read_opts((char *)(uintptr_t)text.data, text.size, flags, allocator, why);
}

yyjson_mut_val *pawl__json_value(yyjson_mut_doc *doc, pawl_text text)
{
    yyjson_read_err why;
    yyjson_doc     *read = read_json(text, YYJSON_READ_NUMBER_AS_RAW, &json_allocator, &why);
    if (read == NULL)
        return yyjson_mut_strncpy(doc, text.data, text.size);
    yyjson_mut_val *value = yyjson_val_mut_copy(doc, yyjson_doc_get_root(read));
    yyjson_doc_free(read);
    return value;
}

pawl_code pawl__facts_print(const pawl__fact *facts, size_t count)
{
    yyjson_mut_doc *doc  = pawl__json_create();
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    for (const pawl__fact *fact = facts; fact < facts + count; fact++)
        if (fact->key != NULL)
            yyjson_mut_obj_add_val(doc, root, fact->key,
                                   fact->is_null          ? yyjson_mut_null(doc)
                                   : fact->text != NULL   ? yyjson_mut_str(doc, fact->text)
                                   : fact->json.size != 0 ? pawl__json_value(doc, fact->json)
                                                          : yyjson_mut_sint(doc, fact->number));
    return pawl__json_print(doc, stdout);
}

pawl_code pawl__done_print(bool is_json, const pawl__fact *facts, size_t count, const char *format,
                           ...)
{
    va_list list;
    if (is_json)
        return pawl__facts_print(facts, count);
    va_start(list, format);
    say_list(stdout, format, list);
    va_end(list);
    return PAWL_OK;
}

pawl_code pawl__json_check(pawl_text text, pawl_error *error)
{
    yyjson_read_err why;
    yyjson_doc     *doc = read_json(text, YYJSON_READ_NOFLAG, &input_allocator, &why);
    yyjson_doc_free(doc);
    if (doc != NULL)
        return PAWL_OK;
    if (why.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION) /* the caller adds what was sent before */
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory for a body of %zu bytes",
                              text.size);
    if (text.size == 0)
        return pawl_error_set(error, PAWL_EINPUT, "not JSON: it is empty");
    return pawl_error_set(error, PAWL_EINPUT, "not JSON: %s at byte %zu", why.msg, why.pos);
}

/* ---- Files that are written ---------------------------------------------------- */

pawl_code pawl__file_fail(const char *doing, const char *path, pawl_error *error)
{
    int reason = errno;
    return pawl_error_set(error, reason == ENOSPC ? PAWL_EFULL : PAWL_EINPUT, "%s %s: %s", doing,
                          path, strerror(reason));
}

/* mkstemps takes a name that is not there, follows no link, and gives the file the mode 0600 whatever the umask. */
pawl_code pawl__part_open(pawl__part *part, const char *path, pawl_error *error)
{
    static const char end[] = ".part";
    int               size  = snprintf(part->name, sizeof part->name, "%s.XXXXXX%s", path, end);
    part->file              = NULL;
    if (size < 0 || (size_t)size >= sizeof part->name)
        return pawl_error_set(error, PAWL_EINPUT, "write %s: the name is too long", path);
    int descriptor = mkstemps(part->name, (int)sizeof end - 1);
    if (descriptor < 0)
        return pawl__file_fail("write", path, error);
    part->file = fdopen(descriptor, "w");
    if (part->file != NULL)
        return PAWL_OK;
    pawl_code code = pawl__file_fail("write", part->name, error);
    close(descriptor);
    (void)remove(part->name);
    return code;
}

pawl_code pawl__part_end(pawl__part *part, const char *path, pawl_code code, pawl_error *error)
{
    bool is_bad = fflush(part->file) != 0 || ferror(part->file);
    if (is_bad && code == PAWL_OK)
        code = pawl__file_fail("write", part->name, error);
    if (fclose(part->file) != 0 && code == PAWL_OK)
        code = pawl__file_fail("write", part->name, error);
    if (code == PAWL_OK && rename(part->name, path) != 0)
        code = pawl__file_fail("rename to", path, error);
    if (code != PAWL_OK)
        (void)remove(part->name);
    part->file = NULL;
    return code;
}
