/* server.c - answers GET requests with the pages of the source: health and metrics.
 *
 * Each connection has a thread: a request that asks whether the process lives does not wait for
 * one that asks a store which does not answer. The socket is opened here and not by the HTTP
 * library, which would not say why it cannot listen.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "observe/carrier.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS_MAX 128u       /* a thread each; more are closed at once */
#define CONNECTIONS_MAX_OF_ONE 32u /* of one address: others, such as a probe, find one free */
#define CONNECTION_SECONDS_MAX 5u  /* without data */

struct pawl__server {
    pawl_observe_source source;
    struct MHD_Daemon  *daemon;
};

/* ---- Requests -------------------------------------------------------------- */

/* Queues a copy of the text, so that nothing is left to be freed. */
static enum MHD_Result reply(struct MHD_Connection *connection, const pawl_observe_answer *answer)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        answer->body.size, (void *)(uintptr_t)answer->body.data, MHD_RESPMEM_MUST_COPY);
    if (response == NULL)
        return MHD_NO;
    enum MHD_Result result =
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->content_type);
    if (result == MHD_YES && answer->status == MHD_HTTP_METHOD_NOT_ALLOWED)
        result = MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    if (result == MHD_YES)
        result = MHD_queue_response(connection, (unsigned)answer->status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
                                  const char *path, const char *method, const char *version,
                                  const char *data, size_t *data_size, void **request)
{
    static char         seen;
    pawl__server       *server = context;
    pawl_observe_answer answer = {MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain; charset=utf-8",
                                  PAWL_TEXT("only GET and HEAD are answered\n")};
    (void)version;
    (void)data;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return reply(connection, &answer); /* at the first call, before there is a body */
    if (*request == NULL) {                /* the first call is about the headers alone */
        *request = &seen;
        return MHD_YES;
    }
    if (*data_size != 0) /* a body could go on for ever */
        return MHD_NO;
    pawl_arena *arena = pawl_arena_create(0);
    if (arena == NULL)
        return MHD_NO;
    server->source.answer(server->source.context, pawl_text_of(path), arena, &answer);
    enum MHD_Result result = reply(connection, &answer);
    pawl_arena_destroy(arena);
    return result;
}

/* ---- Start and stop -------------------------------------------------------- */

typedef union address {
    struct sockaddr     any;
    struct sockaddr_in  four;
    struct sockaddr_in6 six;
} address;

static pawl_code read_address(const char *text, int number, address *at, socklen_t *size,
                              pawl_error *error)
{
    uint16_t port = htons((uint16_t)(number > 0 ? number : 0));
    memset(at, 0, sizeof *at);
    if (inet_pton(AF_INET, text, &at->four.sin_addr) == 1) {
        at->four.sin_family = AF_INET;
        at->four.sin_port   = port;
        *size               = sizeof at->four;
        return PAWL_OK;
    }
    if (inet_pton(AF_INET6, text, &at->six.sin6_addr) == 1) {
        at->six.sin6_family = AF_INET6;
        at->six.sin6_port   = port;
        *size               = sizeof at->six;
        return PAWL_OK;
    }
    return pawl_error_set(error, PAWL_ECONFIG, "'%s' is not a numeric address", text);
}

/* `*got`: the port in use. */
static pawl_code listen_at(const char *text, int number, int *fd, int *got, pawl_error *error)
{
    static const int one = 1;
    address          at;
    socklen_t        size = 0;
    pawl_code        code = read_address(text, number, &at, &size, error);
    *fd                   = -1;
    if (code != PAWL_OK)
        return code;
    *fd = socket(at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*fd < 0 || setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0 ||
        bind(*fd, &at.any, size) != 0 || listen(*fd, SOMAXCONN) != 0 ||
        getsockname(*fd, &at.any, &size) != 0) {
        code = pawl_error_set(error, PAWL_ECONFIG, "cannot listen on %s port %d: %s", text,
                              number > 0 ? number : 0, strerror(errno));
        if (*fd >= 0)
            close(*fd);
        *fd = -1;
        return code;
    }
    *got = ntohs(at.any.sa_family == AF_INET ? at.four.sin_port : at.six.sin6_port);
    return PAWL_OK;
}

/* The daemon owns the socket. Its threads inherit a mask that blocks all signals, which are for the application. */
pawl_code pawl__daemon_start(const char *text, int port, MHD_AccessHandlerCallback answer,
                             void *context, const struct MHD_OptionItem *options,
                             struct MHD_Daemon **daemon, int *got, pawl_error *error)
{
    int       fd = -1;
    sigset_t  all, before;
    pawl_code code = listen_at(text, port, &fd, got, error);
    if (code != PAWL_OK)
        return code;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    *daemon = MHD_start_daemon(MHD_USE_AUTO_INTERNAL_THREAD | MHD_USE_THREAD_PER_CONNECTION, 0,
                               NULL, NULL, answer, context, MHD_OPTION_LISTEN_SOCKET, fd,
                               MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX, MHD_OPTION_ARRAY,
                               options, MHD_OPTION_END);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (*daemon != NULL)
        return PAWL_OK;
    close(fd);
    return pawl_error_set(error, PAWL_ENOMEM, "no thread for a server on port %d", *got);
}

pawl_code pawl__server_start(const pawl_observe_plan *plan, pawl__server **server, int *port,
                             pawl_error *error)
{
    static const struct MHD_OptionItem options[] = {
        {MHD_OPTION_PER_IP_CONNECTION_LIMIT, CONNECTIONS_MAX_OF_ONE, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, CONNECTION_SECONDS_MAX, NULL},
        {MHD_OPTION_END, 0, NULL}};
    pawl__server *made = pawl_allocate(sizeof *made);
    if (made == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a server");
    made->source   = plan->source;
    pawl_code code = pawl__daemon_start(plan->address, plan->port, on_request, made, options,
                                        &made->daemon, port, error);
    if (code == PAWL_OK)
        *server = made;
    else
        pawl_free(made);
    return code;
}

void pawl__server_stop(pawl__server *server)
{
    if (server == NULL)
        return;
    MHD_stop_daemon(server->daemon);
    pawl_free(server);
}
