/* pages.c - a server of pages: any method, arguments, a body, headers of its own, and streams.
 *
 * Each connection has a thread. A request's body is collected up to the limit of the plan, but only up to 64 KB until
 * the plan has admitted its sender. A larger body is read and discarded, and the plan is told that.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "observe/carrier.h"

#include <string.h>
#include <strings.h>

#define CONNECTIONS_MAX_OF_ONE 64u    /* of one address */
#define CONNECTION_SECONDS_MAX 20u    /* without data: an answer may take that long */
#define CONNECTION_MEMORY (64 * 1024) /* headers and arguments */
#define ARGUMENTS_MAX 64
#define BODY_UNASKED_MAX ((size_t)64 * 1024) /* of a request that nobody has admitted yet */
#define STREAM_BLOCK (64 * 1024)

typedef struct pages {
    pawl_serve_plan    plan;
    struct MHD_Daemon *daemon;
} pages;

typedef struct request {
    char  *body;
    size_t size, capacity;
    bool   is_too_large, is_admitted;
} request;

typedef struct stream {
    const pages *server;
    uint64_t     state;
} stream;

/* ---- The answer -------------------------------------------------------------- */

static ssize_t read_stream(void *context, uint64_t position, char *buffer, size_t size)
{
    stream *it = context;
    (void)position;
    long count = it->server->plan.read(it->server->plan.context, &it->state, buffer, size);
    return count >= 0 ? (ssize_t)count : MHD_CONTENT_READER_END_OF_STREAM;
}

static void free_stream(void *context)
{
    stream *it = context;
    (void)it->server->plan.read(it->server->plan.context, &it->state, NULL, 0);
    pawl_free(it);
}

static struct MHD_Response *begin_stream(const pages *server)
{
    stream *it = pawl_allocate(sizeof *it);
    if (it == NULL)
        return NULL;
    *it                          = (stream){.server = server};
    struct MHD_Response *started = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK,
                                                                     read_stream, it, free_stream);
    if (started == NULL)
        pawl_free(it);
    return started;
}

static enum MHD_Result reply(const pages *server, struct MHD_Connection *connection,
                             const pawl_serve_answer *answer)
{
    struct MHD_Response *response =
        answer->is_stream ? begin_stream(server)
                          : MHD_create_response_from_buffer(answer->body.size,
                                                            (void *)(uintptr_t)answer->body.data,
                                                            MHD_RESPMEM_MUST_COPY);
    if (response == NULL)
        return MHD_NO;
    enum MHD_Result result =
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->content_type);
    for (size_t i = 0; result == MHD_YES && i < answer->header_count; i++)
        result =
            MHD_add_response_header(response, answer->headers[i].name, answer->headers[i].value);
    if (result == MHD_YES)
        result = MHD_queue_response(connection, (unsigned)answer->status, response);
    MHD_destroy_response(response);
    return result;
}

/* ---- The request ------------------------------------------------------------- */

/* Grows by doubling. False without memory. */
static bool collect(request *it, const char *data, size_t size, size_t size_max)
{
    if (it->is_too_large || size > size_max - it->size) {
        it->is_too_large = true;
        return true;
    }
    size_t capacity = it->capacity != 0 ? it->capacity : 4096;
    while (capacity < it->size + size)
        capacity *= 2;
    char *grown = capacity != it->capacity ? pawl_resize(it->body, capacity) : it->body;
    if (grown == NULL)
        return false;
    it->body     = grown;
    it->capacity = capacity;
    memcpy(it->body + it->size, data, size);
    it->size += size;
    return true;
}

typedef struct argument_list {
    pawl_serve_pair items[ARGUMENTS_MAX];
    size_t          count;
} argument_list;

static enum MHD_Result note_argument(void *context, enum MHD_ValueKind kind, const char *name,
                                     const char *value)
{
    argument_list *list = context;
    (void)kind;
    if (list->count < ARGUMENTS_MAX)
        list->items[list->count] = (pawl_serve_pair){name, value != NULL ? value : ""};
    list->count++;
    return MHD_YES;
}

static const char *find_header(const pawl_serve_request *asked, const char *name)
{
    return MHD_lookup_connection_value(asked->connection, MHD_HEADER_KIND, name);
}

/* Asks the plan for its answer; if the body is not complete, only whether its sender is admitted. */
static enum MHD_Result answer_request(const pages *server, struct MHD_Connection *connection,
                                      const char *path, const char *method, request *it,
                                      bool is_whole)
{
    argument_list     list   = {.count = 0};
    enum MHD_Result   result = MHD_YES;
    pawl_serve_answer answer = {.status       = MHD_HTTP_INTERNAL_SERVER_ERROR,
                                .content_type = "text/plain"};
    pawl_arena       *arena  = pawl_arena_create(0);
    if (arena == NULL)
        return MHD_NO;
    (void)MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, note_argument, &list);
    char                    *password = NULL;
    char                    *user     = MHD_basic_auth_get_username_password(connection, &password);
    const pawl_serve_request asked    = {
           .method         = method,
           .path           = path,
           .arguments      = list.items,
           .argument_count = list.count < ARGUMENTS_MAX ? list.count : ARGUMENTS_MAX,
           .body           = {.data = it->body, .size = is_whole && !it->is_too_large ? it->size : 0},
           .is_too_large   = !is_whole || it->is_too_large || list.count > ARGUMENTS_MAX,
           .user           = user,
           .password       = password,
           .header         = find_header,
           .connection     = connection};
    server->plan.answer(server->plan.context, &asked, arena, &answer);
    if (is_whole)
        result = reply(server, connection, &answer);
    else
        it->is_admitted = answer.status == MHD_HTTP_CONTENT_TOO_LARGE &&
                          strcmp(method, MHD_HTTP_METHOD_POST) == 0;
    MHD_free(user);
    MHD_free(password);
    pawl_arena_destroy(arena);
    return result;
}

typedef struct once_each {
    unsigned hosts, lengths;
} once_each;

static enum MHD_Result note_header(void *context, enum MHD_ValueKind kind, const char *name,
                                   const char *value)
{
    once_each *it = context;
    (void)kind;
    (void)value;
    it->hosts += strcasecmp(name, MHD_HTTP_HEADER_HOST) == 0;
    it->lengths += strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0 ||
                   strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0;
    return MHD_YES;
}

/* False: Host, or the length of the body, is given twice. A proxy in front may have read another host, or may take a
 * part of the body for a second request. */
static bool is_unambiguous(struct MHD_Connection *connection)
{
    once_each it = {.hosts = 0};
    (void)MHD_get_connection_values(connection, MHD_HEADER_KIND, note_header, &it);
    return it.hosts <= 1 && it.lengths <= 1;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
                                  const char *path, const char *method, const char *version,
                                  const char *data, size_t *data_size, void **own)
{
    const pages *server = context;
    request     *it     = *own;
    (void)version;
    if (it == NULL) { /* the first call is about the headers alone */
        if (!is_unambiguous(connection))
            return MHD_NO; /* closes the connection */
        *own = it = pawl_allocate(sizeof *it);
        if (it != NULL)
            *it = (request){.size = 0};
        return it != NULL ? MHD_YES : MHD_NO;
    }
    if (*data_size != 0) {
        if (!it->is_admitted && !it->is_too_large && it->size + *data_size > BODY_UNASKED_MAX) {
            if (answer_request(server, connection, path, method, it, false) != MHD_YES)
                return MHD_NO;
            it->is_too_large = !it->is_admitted;
        }
        bool is_well = collect(it, data, *data_size, server->plan.body_size_max);
        *data_size   = 0;
        return is_well ? MHD_YES : MHD_NO;
    }
    return answer_request(server, connection, path, method, it, true);
}

static void on_end(void *context, struct MHD_Connection *connection, void **own,
                   enum MHD_RequestTerminationCode why)
{
    request *it = *own;
    (void)context;
    (void)connection;
    (void)why;
    if (it != NULL)
        pawl_free(it->body);
    pawl_free(it);
    *own = NULL;
}

/* ---- Start and stop ----------------------------------------------------------- */

pawl_code pawl__pages_start(const pawl_serve_plan *plan, void **server, int *port,
                            pawl_error *error)
{
    const struct MHD_OptionItem options[] = {
        {MHD_OPTION_PER_IP_CONNECTION_LIMIT, CONNECTIONS_MAX_OF_ONE, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, CONNECTION_SECONDS_MAX, NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_MEMORY, NULL},
        {MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
        {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)on_end, NULL},
        {MHD_OPTION_END, 0, NULL}};
    pages *made = pawl_allocate(sizeof *made);
    if (made == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a server");
    *made          = (pages){.plan = *plan};
    pawl_code code = pawl__daemon_start(plan->address, plan->port, on_request, made, options,
                                        &made->daemon, port, error);
    if (code == PAWL_OK)
        *server = made;
    else
        pawl_free(made);
    return code;
}

void pawl__pages_stop(void *server)
{
    pages *made = server;
    if (made == NULL)
        return;
    MHD_stop_daemon(made->daemon);
    pawl_free(made);
}
