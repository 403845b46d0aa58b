/* own_server.c - a server of the test's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/own_server.h"

#include "support/tests.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct own_server own;

static bool is_free(int port)
{
    struct sockaddr_in address    = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int                descriptor = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr       = htonl(INADDR_LOOPBACK);
    bool is_bound =
        descriptor >= 0 && bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0;
    if (descriptor >= 0)
        close(descriptor);
    return is_bound;
}

/* Below the ports that the system hands out for connections: while the server is away none of those takes its port. */
static int free_ports(int count)
{
    unsigned seed = (unsigned)time(NULL) ^ ((unsigned)getpid() << 8);
    for (;;) {
        int port = 20000 + rand_r(&seed) % 12000, free = 0;
        while (free < count && is_free(port + free))
            free++;
        if (free == count)
            return port;
    }
}

bool own_server_run(const char *verb, const char *words)
{
    return system(test_text("bash '%s' %s '%s' %d %s >'%s.said' 2>&1", own.script, verb, own.folder,
                            own.port, words, own.folder)) == 0;
}

void own_server_must_run(const char *verb, const char *words)
{
    if (!own_server_run(verb, words))
        fail_msg("%s %s %s does not work: see %s.said", own.script, verb, words, own.folder);
}

bool own_server_begin(const char *name, int port_count)
{
    const char *source = getenv("PAWL_SOURCE_DIR");
    if (source == NULL)
        return false;
    snprintf(own.script, sizeof own.script, "%s/tests/servers/%s.sh", source, name);
    /* In memory where that is to be had: no power is lost, and a disk that is busy delays each commit. */
    snprintf(own.folder, sizeof own.folder, "%s/pawl-server-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (mkdtemp(own.folder) == NULL)
        return false;
    int tries = 3; /* somebody else may take the port first */
    do
        own.port = free_ports(port_count);
    while (!own_server_run("start", "") && --tries > 0);
    return tries > 0;
}

void own_server_end(void)
{
    (void)own_server_run("crash", "");
    if (own.folder[0] != '\0' &&
        system(test_text("rm -rf '%s' '%s.said'", own.folder, own.folder)) != 0)
        fprintf(stderr, "%s stays\n", own.folder);
}
