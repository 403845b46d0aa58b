/* send.c - `pawl send`: sends one message, or one for each line of a file.
 *
 * Up to COMMIT_LINES lines are one commit. Commits before a bad line stay. At a signal the lines that were read are
 * committed. The error text says how many messages were sent.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/cli.h"

#include "cli/bulk/bulk_loop.h"

#include "pawl/store_queue.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#define COMMIT_LINES 256 /* as many as a worker takes in one commit */

typedef struct verb_fields {
    pawl__store_fields at;
    const char        *queue, *type, *body, *body_file, *id, *correlation_id;
    pawl__texts        headers;
    int64_t            delay;
    bool               is_lines, is_json;
} verb_fields;

const pawl__argument pawl__send_verb_arguments[] = {{.name = NULL}};
#define OPTION(name, kind, member, ...) PAWL__OPTION(verb_fields, name, kind, member, __VA_ARGS__)
const pawl__option pawl__send_verb_options[] = {
    OPTION("body", TEXT, body, "JSON", 0, "the message"),
    OPTION("body-file", TEXT, body_file, "FILE", 0,
           "the file that holds the message; - is standard input"),
    OPTION("correlation", TEXT, correlation_id, "ID", 0, "id of the conversation"),
    PAWL__OPTIONS_STORE(verb_fields, at),
    OPTION("delay", DURATION, delay, "DURATION", 0,
           "not to be handled before: 500ms 5s 15m 2h 30d"),
    OPTION("header", LIST, headers, "NAME=VALUE", 0, "a header of the message"),
    OPTION("id", TEXT, id, "ID", 0,
           "id of the message; it is dropped while the queue has another one of that id, or if the "
           "endpoint has handled one",
           .default_words = "a new one"),
    OPTION("json", FLAG, is_json, NULL, 0, "print one JSON object"),
    OPTION("lines", FLAG, is_lines, NULL, 0,
           "one message for each line of standard input, or of --body-file"),
    OPTION("to", TEXT, queue, "QUEUE", 0, "where the message goes"),
    OPTION("type", TEXT, type, "TYPE", 0, "type of the message: the name of its record"),
    {.name = NULL},
};

const pawl__report pawl__send_verb_reports[] = {
    {"the object", NULL, "sent queue id"},
    {.what = NULL},
};

/* ---- Messages ------------------------------------------------------------- */

static pawl_code check_fields(const verb_fields *fields, pawl_error *error)
{
    if (fields->queue == NULL || fields->type == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "pawl send needs --to QUEUE and --type TYPE");
    if (fields->body != NULL && (fields->body_file != NULL || fields->is_lines))
        return pawl_error_set(error, PAWL_EINVAL, "give --body or %s, not both",
                              fields->is_lines ? "--lines" : "--body-file");
    if (fields->body == NULL && fields->body_file == NULL && !fields->is_lines)
        return pawl_error_set(error, PAWL_EINVAL,
                              "pawl send needs --body JSON, --body-file FILE or --lines");
    if (fields->is_lines && fields->id != NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "--id is for one message; with --lines each gets its own");
    return PAWL_OK;
}

/* Reads headers into a list that ends with an empty row; names and values are cut in copies. */
static pawl_code read_headers(const pawl__texts *texts, pawl_arena *arena,
                              const pawl_header **headers, pawl_error *error)
{
    char         word[PAWL__WORD_SIZE];
    pawl_header *list = pawl__must_take(arena, (texts->count + 1) * sizeof *list);
    for (size_t i = 0; i < texts->count; i++) {
        const char *text   = texts->items[i];
        char       *name   = pawl__must(pawl_arena_copy(arena, text, strlen(text) + 1));
        char       *equals = strchr(name, '=');
        if (equals == NULL || equals == name)
            return pawl_error_set(error, PAWL_EINVAL, "--header: expected NAME=VALUE, got '%s'",
                                  pawl__shown(name, word));
        *equals = '\0';
        list[i] = (pawl_header){name, equals + 1};
    }
    *headers = texts->count > 0 ? list : NULL;
    return PAWL_OK;
}

/* ---- One message ----------------------------------------------------------- */

/* If the answer cannot be written, the error has the id: sending again without it would send a second message. */
static pawl_code print_sent(const verb_fields *fields, const char *id, int64_t count,
                            pawl_error *error)
{
    (void)signal(SIGPIPE, SIG_IGN);
    if (fields->is_json)
        (void)pawl__facts_print(PAWL__FACTS({.key = "sent", .number = count},
                                            {.key = "queue", .text = fields->queue},
                                            {.key = id != NULL ? "id" : NULL, .text = id}));
    else if (id != NULL)
        pawl__say(stdout, "sent %s to %s", id, fields->queue);
    else
        pawl__say(stdout, "sent %lld messages to %s", (long long)count, fields->queue);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return PAWL_OK;
    const char *why = strerror(errno);
    if (id != NULL)
        return pawl_error_set(error, PAWL_EFULL,
                              "message %s was sent, but cannot write to standard output: %s", id,
                              why);
    return pawl_error_set(error, PAWL_EFULL,
                          "%lld messages were sent, but cannot write to standard output: %s",
                          (long long)count, why);
}

/* PAWL_EDUPLICATE: the store dropped the message, since the queue has another one with the given id, of another type or
 * body. The same message sent again is PAWL_OK, as scripts try again after an unknown outcome. Opens a handle, as a
 * sender has none to share. A failure is ignored, since the commit has succeeded: a role that may only send cannot look. */
static pawl_code check_kept(const verb_fields *fields, pawl_text body, pawl_arena *arena,
                            pawl_error *error)
{
    pawl_store            *store   = NULL;
    pawl_queue_messages    found   = {.count = 0};
    pawl_error             none    = PAWL_ERROR_INIT;
    pawl_store_options     options = pawl__store_options(&fields->at, PAWL_OPEN_EXISTING);
    const pawl_queue_query query   = {.queue      = pawl_text_of(fields->queue),
                                      .message_id = pawl_text_of(fields->id),
                                      .count_max  = 1};
    if (pawl_store_open(fields->at.store, &options, &store, &none) == PAWL_OK)
        (void)pawl_store_queue_find(store, &query, arena, &found, &none);
    pawl_store_close(store);
    if (found.count == 0)
        return PAWL_OK;
    const pawl_message *message  = &found.items[0].row.message;
    bool                is_typed = pawl_text_equal(message->type, pawl_text_of(fields->type));
    if (is_typed && pawl_text_equal(message->body, body))
        return PAWL_OK;
    if (fields->is_json)
        (void)print_sent(fields, fields->id, 0, &none);
    return pawl_error_set(error, PAWL_EDUPLICATE,
                          "queue %s has a message %s with another %s: nothing was sent",
                          fields->queue, fields->id, is_typed ? "body" : "type");
}

static pawl_code send_one(const verb_fields *fields, pawl_sender *sender,
                          pawl_send_options *options, pawl_text body, pawl_arena *arena,
                          pawl_error *error)
{
    char      made[PAWL_UUID_TEXT_SIZE + 1];
    pawl_code code = PAWL_OK;
    if (fields->id == NULL)
        code = pawl__id_make(made, error);
    options->id = fields->id != NULL ? fields->id : made;
    if (code == PAWL_OK)
        code = pawl_sender_send_json(sender, fields->queue, options, fields->type, body, error);
    if (code == PAWL_OK)
        code = pawl_sender_commit(sender, error);
    if (code == PAWL_OK && fields->id != NULL)
        code = check_kept(fields, body, arena, error);
    if (code == PAWL_OK)
        code = print_sent(fields, options->id, 1, error);
    options->id = NULL;
    return code;
}

/* ---- Lines ----------------------------------------------------------------- */

static bool is_blank(pawl_text line)
{
    for (size_t i = 0; i < line.size; i++)
        if (line.data[i] != ' ' && line.data[i] != '\t' && line.data[i] != '\r')
            return false;
    return true;
}

/* Adds up to COMMIT_LINES messages. Waits only for the first line, so that the lines of a slow producer are sent as
 * they come. At a signal it returns, with complete lines only. */
static pawl_code add_lines(const verb_fields *fields, pawl__input *input, pawl_sender *sender,
                           const pawl_send_options *options, int64_t *count, pawl_error *error)
{
    *count = 0;
    while (*count < COMMIT_LINES) {
        pawl_text line;
        input->is_now  = *count > 0;
        pawl_code code = pawl__input_line(input, &line, error);
        if (code != PAWL_OK && pawl__is_interrupted()) /* the signal ended the read: no failure */
            return PAWL_OK;
        if (code != PAWL_OK || line.data == NULL)
            return code;
        if (is_blank(line))
            continue;
        code = pawl__json_check(line, error);
        if (code == PAWL_OK)
            code = pawl_sender_send_json(sender, fields->queue, options, fields->type, line, error);
        if (code != PAWL_OK)
            return pawl_error_wrap(error, code, "line %zu of %s", input->line, input->name);
        ++*count;
    }
    return PAWL_OK;
}

static pawl_code send_lines(const verb_fields *fields, pawl__input *input, pawl_sender *sender,
                            const pawl_send_options *options, pawl_error *error)
{
    int64_t   sent = 0;
    int64_t   count;
    pawl_code code;
    /* The first signal ends the reading, a second one the process. */
    pawl__interrupts_note((int)SA_RESETHAND);
    do {
        code = add_lines(fields, input, sender, options, &count, error);
        if (code == PAWL_OK && count > 0)
            code = pawl_sender_commit(sender, error);
        if (code == PAWL_OK) {
            sent += count;
            pawl__progress("sent", sent, 0);
        }
    } while (code == PAWL_OK && count > 0);
    if (code == PAWL_OK && pawl__is_interrupted())
        code = pawl_error_set(error, PAWL_EINTERRUPTED, "interrupted");
    pawl__progress_end(sent);
    if (code == PAWL_OK)
        return print_sent(fields, NULL, sent, error);
    return pawl_error_wrap(error, code, "after %lld messages were sent", (long long)sent);
}

/* ---- The verb -------------------------------------------------------------- */

/* Warns of a queue without reader. Opens a handle, as a sender has none to share. A failure is ignored, since
 * the messages are sent: a role that may only send cannot look. */
static void warn(verb_fields *fields, pawl_arena *arena)
{
    pawl_store        *store   = NULL;
    pawl_error         none    = PAWL_ERROR_INIT;
    pawl_store_options options = pawl__store_options(&fields->at, PAWL_OPEN_EXISTING);
    if (pawl_store_open(fields->at.store, &options, &store, &none) == PAWL_OK)
        pawl__reader_warn(store, pawl_text_of(fields->queue), arena);
    pawl_store_close(store);
}

/* Reads and checks all words and files before the store is touched. */
static pawl_code prepare(verb_fields *fields, pawl_arena *arena, pawl__input *input,
                         pawl_text *body, pawl_send_options *options, pawl_error *error)
{
    pawl_code code = check_fields(fields, error);
    if (code == PAWL_OK)
        code = pawl__shared_store_url(&fields->at, error);
    if (code == PAWL_OK)
        code = read_headers(&fields->headers, arena, &options->headers, error);
    if (code != PAWL_OK)
        return code;
    options->delay          = fields->delay;
    options->correlation_id = fields->correlation_id;
    if (!fields->is_lines)
        return pawl__body_read(fields->body, fields->body_file, arena, body, error);
    return pawl__input_open(input, fields->body_file != NULL ? fields->body_file : "-", error);
}

static pawl_code work(verb_fields *fields, pawl_arena *arena, pawl_error *error)
{
    pawl__input       input   = {.file = NULL};
    pawl_text         body    = {0};
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD};
    pawl_sender      *sender  = NULL;
    /* A mistyped path is an error, and creates no database. */
    pawl_store_options store = pawl__store_options(&fields->at, PAWL_OPEN_EXISTING);
    pawl_code          code  = prepare(fields, arena, &input, &body, &options, error);
    if (code == PAWL_OK)
        code = pawl_sender_open(fields->at.store, &store, &sender, error);
    if (code == PAWL_OK && fields->is_lines)
        code = send_lines(fields, &input, sender, &options, error);
    else if (code == PAWL_OK)
        code = send_one(fields, sender, &options, body, arena, error);
    if (sender != NULL)
        pawl_sender_close(sender);
    if (code == PAWL_OK)
        warn(fields, arena);
    pawl__input_close(&input);
    return code;
}

int pawl__send_verb(const pawl__verb *verb, int count, char **words)
{
    verb_fields fields = {.queue = NULL};
    pawl_error  error  = PAWL_ERROR_INIT;
    pawl_code   code   = pawl__verb_parse(verb, count, words, &fields, &error);
    if (code != PAWL_OK)
        return pawl__fail(code, &error);
    pawl_arena *arena = pawl__must_create();
    code              = work(&fields, arena, &error);
    pawl_arena_destroy(arena);
    return pawl__fail_store(code, &error, fields.at.store);
}
