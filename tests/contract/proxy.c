/* proxy.c - a proxy that loses what a test wants lost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/proxy.h"

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define RELAYS_MAX 64
#define CHUNK_SIZE 65536
#define BEGIN_SIZE 40

typedef struct relay {
    int          client; /* -1: gone */
    int          server;
    proxy_stream from_client;
    proxy_stream from_server;
    long         requests;
    long         answers;    /* without that of connecting */
    long         asked_at;   /* requests when the cut was asked for */
    bool         is_started; /* connecting loses nothing */
    bool         is_losing_answer;
    size_t       begun;   /* bytes of the answer that is lost, without its rest */
    bool         is_kept; /* the server's side alone */
} relay;

struct proxy {
    const proxy_protocol *protocol;
    pthread_t             thread;
    pthread_mutex_t       mutex; /* guards what follows */
    struct addrinfo      *server;
    int                   listener;
    int                   wake_fd;
    relay                 relays[RELAYS_MAX];
    int                   count;
    int                   accepted;
    bool                  is_stalled;
    bool                  fakes_pids;
    const char           *from; /* a name that clients send, and the server's; or NULL */
    const char           *to;
    bool                  is_ending;
    proxy_loss            loss;
    int                   number;
    long                  most; /* requests of one relay since the cut was asked for */
    bool                  is_kept;
    bool                  was_cut;
};

/* ---- Connections -------------------------------------------------------- */

static void shut(int *descriptor)
{
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
}

static bool send_all(int descriptor, const unsigned char *data, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(descriptor, data, size, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        data += sent;
        size -= (size_t)sent;
    }
    return true;
}

static void cut(proxy *p, relay *r)
{
    shut(&r->client);
    r->is_kept = p->is_kept;
    if (!r->is_kept)
        shut(&r->server);
    p->loss    = PROXY_LOSES_NOTHING;
    p->was_cut = true;
}

static int connect_to(const struct addrinfo *server)
{
    int descriptor = socket(server->ai_family, server->ai_socktype, server->ai_protocol);
    if (descriptor >= 0 && connect(descriptor, server->ai_addr, server->ai_addrlen) != 0)
        shut(&descriptor);
    return descriptor;
}

static void take_client(proxy *p)
{
    int client = accept(p->listener, NULL, NULL);
    if (client < 0)
        return;
    p->accepted++;
    int server = p->count < RELAYS_MAX ? connect_to(p->server) : -1;
    if (server < 0) {
        close(client);
        return;
    }
    relay *r = &p->relays[p->count++];
    *r       = (relay){.client = client, .server = server};
    p->protocol->begin(&r->from_client, &r->from_server);
}

/* How many requests the relay will have made with the one that is concerned. */
static long last_of(const proxy *p, const relay *r)
{
    return r->asked_at + p->number;
}

/* The bytes that the server may get: what is behind the request before the lost one is lost. */
static size_t read_requests(proxy *p, relay *r, const unsigned char *data, size_t size)
{
    size_t kept = 0;
    for (size_t i = 0; i < size; i++) {
        bool is_it =
            p->loss != PROXY_LOSES_NOTHING && r->is_started && r->requests >= last_of(p, r) - 1;
        r->is_losing_answer |= is_it && p->loss != PROXY_LOSES_REQUEST;
        kept += !is_it || p->loss != PROXY_LOSES_REQUEST;
        r->requests += p->protocol->request(&r->from_client, data[i]);
        if (r->requests - r->asked_at > p->most)
            p->most = r->requests - r->asked_at;
    }
    return kept;
}

static void rename_all(const proxy *p, unsigned char *data, size_t size)
{
    size_t length = p->from != NULL ? strlen(p->from) : 0;
    for (size_t i = 0; length != 0 && i + length <= size; i++)
        if (memcmp(data + i, p->from, length) == 0)
            memcpy(data + i, p->to, length);
}

static void move_requests(proxy *p, relay *r)
{
    static unsigned char data[CHUNK_SIZE]; /* of the proxy's thread, as below */
    ssize_t              size = recv(r->client, data, sizeof data, 0);
    if (size <= 0) {
        shut(&r->client);
        shut(&r->server);
        return;
    }
    rename_all(p, data, (size_t)size);
    size_t kept = read_requests(p, r, data, (size_t)size);
    if (!send_all(r->server, data, kept))
        shut(&r->client);
    if (kept < (size_t)size && r->requests >= last_of(p, r))
        cut(p, r);
}

/* The bytes that the client may get. */
static size_t read_answers(const proxy *p, relay *r, unsigned char *data, size_t size)
{
    size_t kept = 0;
    for (size_t i = 0; i < size; i++) {
        bool is_after = r->answers >= last_of(p, r) - 1;
        bool is_told  = p->protocol->answer(&r->from_server, &data[i], p->fakes_pids);
        r->answers += is_told && r->is_started;
        r->is_started |= is_told;
        if (p->protocol->is_early)
            is_after = r->answers >= last_of(p, r);
        kept += !(r->is_losing_answer && is_after) ||
                (p->loss == PROXY_LOSES_REST && r->begun++ < BEGIN_SIZE);
    }
    return kept;
}

static void move_answers(proxy *p, relay *r)
{
    static unsigned char data[CHUNK_SIZE];
    ssize_t              size = recv(r->server, data, sizeof data, 0);
    if (size <= 0) {
        shut(&r->client);
        shut(&r->server);
        return;
    }
    size_t kept = read_answers(p, r, data, (size_t)size);
    if (r->client >= 0 && !send_all(r->client, data, kept))
        shut(&r->client);
    if (r->client >= 0 && r->is_losing_answer && r->answers >= last_of(p, r))
        cut(p, r);
}

static void forget_ended(proxy *p)
{
    int kept = 0;
    for (int i = 0; i < p->count; i++) {
        relay *r = &p->relays[i];
        if (r->client < 0 && !r->is_kept)
            shut(&r->server);
        if (r->server >= 0)
            p->relays[kept++] = *r;
        else
            shut(&r->client);
    }
    p->count = kept;
}

/* ---- The thread --------------------------------------------------------- */

static int list_descriptors(const proxy *p, struct pollfd *list)
{
    int count     = 0;
    list[count++] = (struct pollfd){.fd = p->wake_fd, .events = POLLIN};
    list[count++] = (struct pollfd){.fd = p->listener, .events = POLLIN};
    for (int i = 0; i < p->count; i++) {
        bool is_open  = !p->is_stalled;
        list[count++] = (struct pollfd){.fd = is_open ? p->relays[i].client : -1, .events = POLLIN};
        list[count++] = (struct pollfd){.fd = is_open ? p->relays[i].server : -1, .events = POLLIN};
    }
    return count;
}

static void move_all(proxy *p, const struct pollfd *list, int count)
{
    int relays = (count - 2) / 2;
    for (int i = 0; i < relays && !p->is_stalled; i++) {
        relay *r = &p->relays[i];
        if (r->client >= 0 && list[2 + 2 * i].revents != 0)
            move_requests(p, r);
        if (r->server >= 0 && list[3 + 2 * i].revents != 0)
            move_answers(p, r);
    }
    if (list[1].revents != 0)
        take_client(p);
    forget_ended(p);
}

static void *run(void *context)
{
    proxy        *p = context;
    struct pollfd list[2 + 2 * RELAYS_MAX];
    eventfd_t     woken;
    pthread_mutex_lock(&p->mutex);
    while (!p->is_ending) {
        int count = list_descriptors(p, list);
        pthread_mutex_unlock(&p->mutex);
        (void)poll(list, (nfds_t)count, -1);
        if (list[0].revents != 0)
            (void)eventfd_read(p->wake_fd, &woken);
        pthread_mutex_lock(&p->mutex);
        move_all(p, list, count);
    }
    pthread_mutex_unlock(&p->mutex);
    return NULL;
}

/* ---- The test's side ---------------------------------------------------- */

static int listen_anywhere(void)
{
    struct sockaddr_in address    = {.sin_family = AF_INET};
    int                descriptor = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr       = htonl(INADDR_LOOPBACK);
    if (descriptor >= 0 && (bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0 ||
                            listen(descriptor, RELAYS_MAX) != 0))
        shut(&descriptor);
    return descriptor;
}

static void free_proxy(proxy *p)
{
    if (p->server != NULL)
        freeaddrinfo(p->server);
    shut(&p->listener);
    shut(&p->wake_fd);
    free(p);
}

proxy *proxy_open(const proxy_protocol *protocol, const char *host, const char *port)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    proxy          *p     = calloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    p->protocol = protocol;
    p->wake_fd  = eventfd(0, EFD_NONBLOCK);
    p->listener = listen_anywhere();
    pthread_mutex_init(&p->mutex, NULL);
    if (p->wake_fd < 0 || p->listener < 0 || getaddrinfo(host, port, &hints, &p->server) != 0 ||
        pthread_create(&p->thread, NULL, run, p) != 0) {
        free_proxy(p);
        return NULL;
    }
    return p;
}

int proxy_port(const proxy *p)
{
    struct sockaddr_in address;
    socklen_t          size = sizeof address;
    if (getsockname(p->listener, (struct sockaddr *)&address, &size) != 0)
        return 0;
    return ntohs(address.sin_port);
}

static void change_and_wake(proxy *p)
{
    pthread_mutex_unlock(&p->mutex);
    (void)eventfd_write(p->wake_fd, 1);
}

void proxy_cut(proxy *p, proxy_loss loss, int number, bool is_kept)
{
    pthread_mutex_lock(&p->mutex);
    p->loss    = loss;
    p->number  = number;
    p->is_kept = is_kept;
    p->was_cut = false;
    if (loss != PROXY_LOSES_NOTHING)
        p->most = 0;
    for (int i = 0; i < p->count; i++) {
        p->relays[i].asked_at         = p->relays[i].requests;
        p->relays[i].is_losing_answer = false;
    }
    change_and_wake(p);
}

void proxy_end_kept(proxy *p)
{
    pthread_mutex_lock(&p->mutex);
    for (int i = 0; i < p->count; i++)
        if (p->relays[i].is_kept)
            shut(&p->relays[i].server);
    change_and_wake(p);
}

bool proxy_was_cut(proxy *p)
{
    pthread_mutex_lock(&p->mutex);
    bool was_cut = p->was_cut;
    pthread_mutex_unlock(&p->mutex);
    return was_cut;
}

int proxy_requests(proxy *p)
{
    pthread_mutex_lock(&p->mutex);
    int most = (int)p->most;
    pthread_mutex_unlock(&p->mutex);
    return most;
}

void proxy_stall(proxy *p, bool is_stalled)
{
    pthread_mutex_lock(&p->mutex);
    p->is_stalled = is_stalled;
    change_and_wake(p);
}

void proxy_fake_pids(proxy *p, bool is_on)
{
    pthread_mutex_lock(&p->mutex);
    p->fakes_pids = is_on;
    change_and_wake(p);
}

void proxy_rename(proxy *p, const char *from, const char *to)
{
    pthread_mutex_lock(&p->mutex);
    p->from = from;
    p->to   = to;
    change_and_wake(p);
}

int proxy_accepted(proxy *p)
{
    pthread_mutex_lock(&p->mutex);
    int accepted = p->accepted;
    pthread_mutex_unlock(&p->mutex);
    return accepted;
}

void proxy_close(proxy *p)
{
    if (p == NULL)
        return;
    pthread_mutex_lock(&p->mutex);
    p->is_ending = true;
    change_and_wake(p);
    pthread_join(p->thread, NULL);
    for (int i = 0; i < p->count; i++) {
        shut(&p->relays[i].client);
        shut(&p->relays[i].server);
    }
    pthread_mutex_destroy(&p->mutex);
    free_proxy(p);
}
