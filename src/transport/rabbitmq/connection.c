/* connection.c - connects to one of several hosts, and describes failures of connections.
 *
 * Every wait is limited: connecting and login by time-outs of the library; a write that the server does not read by
 * TCP_USER_TIMEOUT, as the library itself would wait forever.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "transport/rabbitmq/rabbitmq.h"

#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#define CHANNEL_MAX 8
#define EARLY_MAX \
    PAWL_MILLISECONDS(50) /* the library's waits may end that much before their time */
#define GOODBYE_S 1       /* is waited for that long */

int64_t pawl__rabbitmq_now(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

pawl_text pawl__rabbitmq_address(const pawl__rabbitmq *self, pawl_arena *arena)
{
    const pawl__url_host *host = &self->url.parts.hosts[self->host];
    return pawl_arena_printf(arena, "%s:%u", host->name, host->port);
}

/* ---- What the server says -------------------------------------------------------------- */

static pawl_text text_of(amqp_bytes_t bytes)
{
    return (pawl_text){.data = bytes.bytes, .size = bytes.len};
}

pawl_text pawl__rabbitmq_close_text(const amqp_method_t *method)
{
    if (method->id == AMQP_CHANNEL_CLOSE_METHOD)
        return text_of(((const amqp_channel_close_t *)method->decoded)->reply_text);
    if (method->id == AMQP_CONNECTION_CLOSE_METHOD)
        return text_of(((const amqp_connection_close_t *)method->decoded)->reply_text);
    return PAWL_TEXT("an answer that nobody asked for");
}

pawl_text pawl__rabbitmq_says(const amqp_rpc_reply_t *reply)
{
    if (reply->reply_type == AMQP_RESPONSE_SERVER_EXCEPTION)
        return pawl__rabbitmq_close_text(&reply->reply);
    return pawl_text_of(amqp_error_string2(reply->library_error));
}

int pawl__rabbitmq_reply_code(const amqp_rpc_reply_t *reply)
{
    if (reply->reply_type != AMQP_RESPONSE_SERVER_EXCEPTION)
        return 0;
    if (reply->reply.id == AMQP_CHANNEL_CLOSE_METHOD)
        return ((const amqp_channel_close_t *)reply->reply.decoded)->reply_code;
    if (reply->reply.id == AMQP_CONNECTION_CLOSE_METHOD)
        return ((const amqp_connection_close_t *)reply->reply.decoded)->reply_code;
    return 0;
}

/* ---- Opening ------------------------------------------------------------------------------- */

static pawl_code fail_host(const pawl__rabbitmq *self, pawl_code code, const char *what,
                           pawl_text why, const char *remedy, pawl_error *error)
{
    const pawl__url_host *host = &self->url.parts.hosts[self->host];
    return pawl_error_set(error, code, "rabbitmq: %s:%u: %s: %.*s%s", host->name, host->port, what,
                          PAWL_TEXT_ARGS(why), remedy);
}

static pawl_code set_tls(const pawl__rabbitmq *self, amqp_socket_t *socket, pawl_error *error)
{
    const pawl__rabbitmq_url *url       = &self->url;
    bool                      is_strict = url->tls != PAWL__RABBITMQ_TLS_REQUIRED;
    amqp_ssl_socket_set_verify_peer(socket, is_strict);
    amqp_ssl_socket_set_verify_hostname(socket, url->tls == PAWL__RABBITMQ_TLS_VERIFY_IDENTITY);
    if (url->authority != NULL && amqp_ssl_socket_set_cacert(socket, url->authority) != 0)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "rabbitmq: ssl-ca is '%s', which cannot be read as a file of "
                              "authorities in PEM",
                              url->authority);
    if (url->certificate != NULL &&
        amqp_ssl_socket_set_key(socket, url->certificate, url->key) != 0)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "rabbitmq: ssl-cert '%s' and ssl-key '%s' cannot be read as a "
                              "certificate and its key in PEM",
                              url->certificate, url->key);
    return PAWL_OK;
}

static pawl_code open_socket(pawl__rabbitmq *self, pawl_error *error)
{
    const pawl__url_host *host   = &self->url.parts.hosts[self->host];
    struct timeval        limit  = {.tv_sec = self->url.connect_timeout_s};
    amqp_socket_t        *socket = self->url.is_tls ? amqp_ssl_socket_new(self->connection)
                                                    : amqp_tcp_socket_new(self->connection);
    if (socket == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "rabbitmq: no memory for a socket");
    pawl_code code = self->url.is_tls ? set_tls(self, socket, error) : PAWL_OK;
    if (code != PAWL_OK)
        return code;
    int status = amqp_socket_open_noblock(socket, host->name, (int)host->port, &limit);
    if (status == AMQP_STATUS_OK)
        return PAWL_OK;
    const char *remedy = status <= AMQP_STATUS_SSL_ERROR
                             ? ": is it the port of TLS, and does ssl-ca name its authority"
                             : ": does RabbitMQ run there, and is it its port of AMQP";
    return fail_host(self, PAWL_EUNREACHABLE, "no connection",
                     pawl_text_of(amqp_error_string2(status)), remedy, error);
}

static void set_limits(pawl__rabbitmq *self)
{
    struct timeval wait    = {.tv_sec = self->url.connect_timeout_s};
    struct timeval answer  = {.tv_sec = self->url.timeout_s};
    unsigned       unread  = (unsigned)self->url.timeout_s * 1000;
    int            is_kept = 1;
    int            fd      = amqp_get_sockfd(self->connection);
    (void)amqp_set_handshake_timeout(self->connection, &wait);
    (void)amqp_set_rpc_timeout(self->connection, &answer);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unread, sizeof unread);
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &is_kept, sizeof is_kept);
}

static pawl_code refuse_login(const pawl__rabbitmq *self, const amqp_rpc_reply_t *reply,
                              pawl_error *error)
{
    const pawl__url *parts = &self->url.parts;
    pawl_text        says  = pawl__rabbitmq_says(reply);
    int              code  = pawl__rabbitmq_reply_code(reply);
    const char      *user  = parts->user != NULL ? parts->user : "";
    if (code == AMQP_ACCESS_REFUSED)
        return pawl_error_set(error, PAWL_EDENIED,
                              "rabbitmq: %s:%u refuses the user '%s' or its password (a user "
                              "'guest' is let in from the server's own machine alone): %.*s",
                              parts->hosts[self->host].name, parts->hosts[self->host].port, user,
                              PAWL_TEXT_ARGS(says));
    if (code == AMQP_NOT_ALLOWED)
        return pawl_error_set(error, PAWL_EDENIED,
                              "rabbitmq: virtual host '%s' is not there, or not open to the user "
                              "'%s' (rabbitmqctl set_permissions): %.*s",
                              parts->database, user, PAWL_TEXT_ARGS(says));
    return fail_host(self, PAWL_EUNREACHABLE, "no login", says, "", error);
}

/* A server sends connection.blocked, and notices of cancelled consumers, only to clients that announce that they
 * understand them. */
static pawl_code login(pawl__rabbitmq *self, pawl_error *error)
{
    const pawl__url   *parts = &self->url.parts;
    amqp_table_entry_t can[] = {
        {.key   = amqp_cstring_bytes("connection.blocked"),
         .value = {.kind = AMQP_FIELD_KIND_BOOLEAN, .value.boolean = true}},
        {.key   = amqp_cstring_bytes("basic.nack"),
         .value = {.kind = AMQP_FIELD_KIND_BOOLEAN, .value.boolean = true}},
        {.key   = amqp_cstring_bytes("consumer_cancel_notify"),
         .value = {.kind = AMQP_FIELD_KIND_BOOLEAN, .value.boolean = true}}};
    amqp_table_entry_t about[] = {
        {.key   = amqp_cstring_bytes("connection_name"),
         .value = {.kind = AMQP_FIELD_KIND_UTF8, .value.bytes = amqp_cstring_bytes(self->name)}},
        {.key   = amqp_cstring_bytes("capabilities"),
         .value = {.kind        = AMQP_FIELD_KIND_TABLE,
                   .value.table = {.num_entries = 3, .entries = can}}}};
    amqp_table_t     table = {.num_entries = 2, .entries = about};
    amqp_rpc_reply_t reply = amqp_login_with_properties(
        self->connection, parts->database, CHANNEL_MAX, PAWL__RABBITMQ_FRAME_SIZE_MAX,
        self->url.heartbeat_s, &table, AMQP_SASL_METHOD_PLAIN,
        parts->user != NULL ? parts->user : "", parts->password != NULL ? parts->password : "");
    return reply.reply_type == AMQP_RESPONSE_NORMAL ? PAWL_OK : refuse_login(self, &reply, error);
}

static pawl_code open_channels(pawl__rabbitmq *self, pawl_error *error)
{
    (void)amqp_channel_open(self->connection, PAWL__RABBITMQ_PUBLISHING);
    amqp_rpc_reply_t reply = amqp_get_rpc_reply(self->connection);
    if (reply.reply_type == AMQP_RESPONSE_NORMAL) {
        (void)amqp_confirm_select(self->connection, PAWL__RABBITMQ_PUBLISHING);
        reply = amqp_get_rpc_reply(self->connection);
    }
    if (reply.reply_type == AMQP_RESPONSE_NORMAL)
        return PAWL_OK;
    return fail_host(self, PAWL_EUNREACHABLE, "no channel with confirms",
                     pawl__rabbitmq_says(&reply), "", error);
}

static pawl_code open_host(pawl__rabbitmq *self, pawl_error *error)
{
    self->connection = amqp_new_connection();
    if (self->connection == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "rabbitmq: no memory for a connection");
    pawl_code code = open_socket(self, error);
    if (code == PAWL_OK) {
        set_limits(self);
        code = login(self, error);
    }
    if (code == PAWL_OK)
        code = open_channels(self, error);
    if (code != PAWL_OK)
        pawl__rabbitmq_disconnect(self, false);
    return code;
}

bool pawl__rabbitmq_is_stopping(const pawl__rabbitmq *self)
{
    struct pollfd stop = {.fd = self->stop_fd, .events = POLLIN};
    return self->stop_fd > 0 && poll(&stop, 1, 0) > 0;
}

pawl_code pawl__rabbitmq_connect(pawl__rabbitmq *self, pawl_error *error)
{
    size_t    left = self->url.parts.host_count;
    int64_t   end  = pawl__rabbitmq_now() + PAWL_SECONDS(self->url.connect_timeout_s) - EARLY_MAX;
    pawl_code code = PAWL_OK;
    do
        code = open_host(self, error);
    while (code == PAWL_EUNREACHABLE && --left > 0 && pawl__rabbitmq_now() < end &&
           !pawl__rabbitmq_is_stopping(self));
    return code;
}

/* The host that failed is tried last from then on: a node cut off from its cluster accepts connections but does
 * nothing more. */
void pawl__rabbitmq_disconnect(pawl__rabbitmq *self, bool is_whole)
{
    struct timeval wait = {.tv_sec = GOODBYE_S};
    if (self->connection != NULL) {
        if (!is_whole)
            self->host = (self->host + 1) % self->url.parts.host_count;
        if (is_whole && amqp_set_rpc_timeout(self->connection, &wait) == AMQP_STATUS_OK)
            (void)amqp_connection_close(self->connection, AMQP_REPLY_SUCCESS);
        (void)amqp_destroy_connection(self->connection);
    }
    self->connection  = NULL;
    self->tag         = 0;
    self->can_declare = false;
    self->is_blocked  = false;
    pawl__rabbitmq_names_forget(&self->declared);
}
