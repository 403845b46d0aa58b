/* collector.c - an OpenTelemetry collector for tests, and an HTTP client.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifdef PAWL_HAVE_OBSERVE

#include "support/collector.h"
#include "support/tests.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BODIES_MAX 200
#define PATIENCE_SECONDS 120

typedef struct body {
    char   signal[20]; /* "traces" */
    char  *text;
    size_t size;
    bool   is_given;
} body;

struct collector {
    struct MHD_Daemon *daemon;
    char               url[100];
    pthread_mutex_t    mutex;
    pthread_cond_t     arrival;
    int                refusals, status;
    const char        *said, *retry_after; /* body of answers, and Retry-After of refusals */
    body               bodies[BODIES_MAX];
    size_t             count;
};

/* Called with the mutex; returns the status of the answer. */
static unsigned take(collector *it, body *taken, const char *path)
{
    if (it->refusals > 0) {
        it->refusals--;
        return (unsigned)it->status;
    }
    if (it->count == BODIES_MAX || strncmp(path, "/v1/", 4) != 0)
        return 404;
    snprintf(taken->signal, sizeof taken->signal, "%s", path + 4);
    it->bodies[it->count++] = *taken;
    taken->text             = NULL;
    pthread_cond_broadcast(&it->arrival);
    return 200;
}

static enum MHD_Result answer(collector *it, struct MHD_Connection *connection, const char *path,
                              body *taken)
{
    const char *type = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Type");
    pthread_mutex_lock(&it->mutex);
    unsigned status =
        type == NULL || strcmp(type, "application/json") != 0 ? 415 : take(it, taken, path);
    const char *said        = it->said;
    const char *retry_after = status != 200 ? it->retry_after : NULL;
    pthread_mutex_unlock(&it->mutex);
    struct MHD_Response *response = MHD_create_response_from_buffer(
        strlen(said), (void *)(uintptr_t)said, MHD_RESPMEM_PERSISTENT);
    if (retry_after != NULL)
        MHD_add_response_header(response, "Retry-After", retry_after);
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
                                  const char *path, const char *method, const char *version,
                                  const char *data, size_t *data_size, void **request)
{
    body *taken = *request;
    if (taken == NULL) {
        *request = calloc(1, sizeof *taken);
        return *request != NULL && strcmp(method, "POST") == 0 ? MHD_YES : MHD_NO;
    }
    if (*data_size == 0)
        return answer(context, connection, path, taken);
    taken->text = realloc(taken->text, taken->size + *data_size + 1);
    memcpy(taken->text + taken->size, data, *data_size);
    taken->size += *data_size;
    taken->text[taken->size] = '\0';
    *data_size               = 0;
    return MHD_YES;
}

static void forget(void *context, struct MHD_Connection *connection, void **request,
                   enum MHD_RequestTerminationCode code)
{
    body *taken = *request;
    if (taken != NULL)
        free(taken->text);
    free(taken);
    *request = NULL;
}

collector *collector_open(int refusals, int status)
{
    collector         *it = calloc(1, sizeof *it);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_non_null(it);
    pthread_mutex_init(&it->mutex, NULL);
    pthread_cond_init(&it->arrival, NULL);
    it->refusals = refusals;
    it->status   = status;
    it->said     = "{}";
    it->daemon   = MHD_start_daemon(MHD_USE_AUTO_INTERNAL_THREAD, 0, NULL, NULL, on_request, it,
                                    MHD_OPTION_SOCK_ADDR, &at, MHD_OPTION_NOTIFY_COMPLETED, forget,
                                    NULL, MHD_OPTION_END);
    assert_non_null(it->daemon);
    snprintf(it->url, sizeof it->url, "http://127.0.0.1:%d",
             (int)MHD_get_daemon_info(it->daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
    return it;
}

void collector_say(collector *it, const char *said, const char *retry_after)
{
    pthread_mutex_lock(&it->mutex);
    it->said        = said;
    it->retry_after = retry_after;
    pthread_mutex_unlock(&it->mutex);
}

const char *collector_url(const collector *it)
{
    return it->url;
}

static body *find(collector *it, const char *signal)
{
    for (size_t i = 0; i < it->count; i++)
        if (!it->bodies[i].is_given && strcmp(it->bodies[i].signal, signal) == 0)
            return &it->bodies[i];
    return NULL;
}

const char *collector_next(collector *it, const char *signal)
{
    struct timespec end;
    int             result = 0;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += PATIENCE_SECONDS;
    pthread_mutex_lock(&it->mutex);
    while (find(it, signal) == NULL && result == 0)
        result = pthread_cond_timedwait(&it->arrival, &it->mutex, &end);
    body *found = find(it, signal);
    if (found != NULL)
        found->is_given = true;
    pthread_mutex_unlock(&it->mutex);
    if (found == NULL)
        fail_msg("no %s came within %d seconds", signal, PATIENCE_SECONDS);
    return found != NULL ? found->text : NULL;
}

size_t collector_count(collector *it, const char *signal)
{
    size_t count = 0;
    pthread_mutex_lock(&it->mutex);
    for (size_t i = 0; i < it->count; i++)
        count += strcmp(it->bodies[i].signal, signal) == 0;
    pthread_mutex_unlock(&it->mutex);
    return count;
}

void collector_close(collector *it)
{
    MHD_stop_daemon(it->daemon);
    for (size_t i = 0; i < it->count; i++)
        free(it->bodies[i].text);
    pthread_cond_destroy(&it->arrival);
    pthread_mutex_destroy(&it->mutex);
    free(it);
}

int fetch(int port, const char *method, const char *path, char *page, size_t size)
{
    struct sockaddr_in at = {.sin_family      = AF_INET,
                             .sin_port        = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char               request[300];
    int                status = 0;
    size_t             used   = 0;
    ssize_t            count  = 1;
    int                fd     = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    int length = snprintf(request, sizeof request,
                          "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s\r\n",
                          method, path, strcmp(method, "POST") == 0 ? "Content-Length: 0\r\n" : "");
    assert_int_equal(write(fd, request, (size_t)length), length);
    while (count > 0 && used + 1 < size) {
        count = read(fd, page + used, size - used - 1);
        used += count > 0 ? (size_t)count : 0;
    }
    page[used] = '\0';
    close(fd);
    assert_int_equal(count, 0);
    assert_int_equal(sscanf(page, "HTTP/1.1 %d ", &status), 1);
    return status;
}

#else
typedef int collector_not_built; /* ISO C requires a declaration in every file */
#endif
