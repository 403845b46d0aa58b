/* test_postgres_hosts.c - several hosts in a URL, of which some answer nothing: each has its
 * time, and then the next one is tried.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/postgres_trouble.h"
#include "support/tests.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#define LIMIT_MS 1000
#define STARTING_MS 600
#define SOON_MS 15000 /* half of the deadline that a silent host would have */

/* A port where connections are taken by the kernel and nobody answers, or, when
 * `is_closed`, where none is taken. Port 0: any; `*port` says which. */
static int listen_at(const char *address, int *port, bool is_closed)
{
    struct sockaddr_in at   = {.sin_family = AF_INET, .sin_port = htons((uint16_t)*port)};
    socklen_t          size = sizeof at;
    int                fd   = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0 && inet_pton(AF_INET, address, &at.sin_addr) == 1);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, size), 0);
    assert_true(is_closed || listen(fd, 20) == 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    *port = ntohs(at.sin_port);
    return fd;
}

typedef struct hosts {
    int port;   /* of the server, on 127.0.0.1; on 127.0.0.2 it is silent */
    int silent; /* on 127.0.0.1, likewise */
    int mute;
    int closed;
    int files[4];
} hosts;

static void hosts_open(fixture *p, hosts *h)
{
    *h = (hosts){.port = atoi(PQport(p->pg))};
    if (strcmp(PQhost(p->pg), "127.0.0.1") != 0)
        skip();
    setenv("PGPASSWORD", PQpass(p->pg), 1);
    h->files[0] = listen_at("127.0.0.1", &h->silent, false);
    h->files[1] = listen_at("127.0.0.1", &h->mute, false);
    h->files[2] = listen_at("127.0.0.1", &h->closed, true);
    h->files[3] = listen_at("127.0.0.2", &h->port, false);
    apply_schema(p, p->url, order_tables, 1);
}

static void hosts_close(const hosts *h)
{
    for (size_t i = 0; i < 4; i++)
        close(h->files[i]);
}

/* Opens the store there, in `at_least` milliseconds, and, when that went well, sends. */
static void open_at(fixture *p, const char *list, const char *parameters, int64_t at_least,
                    pawl_code wanted)
{
    pawl_store *store = NULL;
    const char *url = test_text("postgres://%s@%s/%s?schema=%s&connect_timeout=1%s", PQuser(p->pg),
                                list, PQdb(p->pg), p->schema, parameters);
    int64_t     begun = clock_ms();
    expect_code(p, open_with(p, url, order_tables, 1, &store), wanted);
    assert_in_range(clock_ms() - begun, at_least - 20, SOON_MS);
    if (wanted == PAWL_OK)
        ok(p, send_one(p, store, "orders", parameters));
    test_now(store);
}

ON_TROUBLE(the_next_host_is_tried, fixture *p)
{
    hosts h;
    hosts_open(p, &h);
    open_at(p, test_text("127.0.0.1:%d,127.0.0.1:%d", h.silent, h.port), "&sslmode=disable",
            LIMIT_MS, PAWL_OK);
    /* From one that refuses the library goes on alone; the time of the next begins then. */
    open_at(p,
            test_text("127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d", h.silent, h.closed,
                      h.mute, h.port),
            "&sslmode=prefer", 2 * LIMIT_MS, PAWL_OK);
    /* One port for all. */
    open_at(p, "", test_text("&host=127.0.0.2,127.0.0.1&port=%d", h.port), LIMIT_MS, PAWL_OK);
    open_at(p, "", test_text("&hostaddr=127.0.0.2,127.0.0.1&port=%d", h.port), LIMIT_MS, PAWL_OK);
    hosts_close(&h);
}

/* A server that says after a while that it is starting up: the library goes on to the next. */
static void *start_up(void *context)
{
    static const char answer[] = "E\0\0\0\x2aSFATAL\0VFATAL\0C57P03\0Mis starting up\0";
    const hosts      *h        = context;
    char              request[1000];
    int               fd = accept(h->files[0], NULL, NULL);
    if (fd < 0)
        return NULL;
    ssize_t size = read(fd, request, sizeof request);
    (void)poll(NULL, 0, STARTING_MS);
    if (size > 0)
        size = write(fd, answer, sizeof answer);
    close(fd);
    return NULL;
}

ON_TROUBLE(a_host_s_time_begins_with_it, fixture *p)
{
    hosts     h;
    pthread_t server;
    hosts_open(p, &h);
    assert_int_equal(pthread_create(&server, NULL, start_up, &h), 0);
    open_at(p, test_text("127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d", h.silent, h.mute, h.port),
            "&sslmode=disable", STARTING_MS + LIMIT_MS, PAWL_OK);
    assert_int_equal(pthread_join(server, NULL), 0);
    hosts_close(&h);
}

ON_TROUBLE(the_last_host_has_its_time_too, fixture *p)
{
    char  list[100], text[200];
    hosts h;
    hosts_open(p, &h);
    snprintf(list, sizeof list, "127.0.0.1:%d,127.0.0.1:%d", h.silent, h.mute);
    snprintf(text, sizeof text, "no connection to 127.0.0.1:%d within 1000 ms", h.mute);
    open_at(p, list, "", 2 * LIMIT_MS, PAWL_EUNREACHABLE);
    expect_text(p, text);
    snprintf(list, sizeof list, "127.0.0.1:%d", h.silent);
    snprintf(text, sizeof text, "no connection to %s within 1000 ms", list);
    open_at(p, list, "", LIMIT_MS, PAWL_EUNREACHABLE);
    expect_text(p, text);
    hosts_close(&h);
}

/* Libpq takes from a service file or from the environment what the URL does not say. */
ON_TROUBLE(hosts_that_the_url_does_not_name_are_tried_too, fixture *p)
{
    hosts h;
    hosts_open(p, &h);
    const char *path =
        test_text("%s/pawl_%s", getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp", p->schema);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "[shop]\nhost=127.0.0.1,127.0.0.1\nport=%d,%d\n", h.silent, h.port);
    assert_int_equal(fclose(file), 0);
    setenv("PGSERVICEFILE", path, 1);
    open_at(p, "", "&service=shop", LIMIT_MS, PAWL_OK);
    unsetenv("PGSERVICEFILE");
    (void)unlink(path);
    const char *port = test_text("%d", h.port);
    setenv("PGHOST", "127.0.0.2,127.0.0.1", 1);
    setenv("PGPORT", port, 1);
    setenv("PGCONNECT_TIMEOUT", "1", 1);
    open_at(p, "", "&keepalives=1", LIMIT_MS, PAWL_OK);
    unsetenv("PGHOST");
    unsetenv("PGPORT");
    unsetenv("PGCONNECT_TIMEOUT");
    hosts_close(&h);
}
