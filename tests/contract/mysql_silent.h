/* mysql_silent.h - servers that take a connection and do not answer, or only greet.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_CONTRACT_MYSQL_SILENT_H
#define PAWL_TESTS_CONTRACT_MYSQL_SILENT_H

#include "support/tests.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

/* A port where connections are taken by the kernel and nobody answers. */
static inline int listen_silently(unsigned *port)
{
    struct sockaddr_in at   = {.sin_family = AF_INET};
    socklen_t          size = sizeof at;
    int                fd   = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0 && inet_pton(AF_INET, "127.0.0.1", &at.sin_addr) == 1);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, size), 0);
    assert_int_equal(listen(fd, 20), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    *port = ntohs(at.sin_port);
    return fd;
}

/* A server that greets, and has TLS, but does not answer the handshake. `context`: the socket that listens. */
static inline void *greet(void *context)
{
    static const char greeting[] = "\x4a\0\0\0\x0a"
                                   "8.0.36\0\1\0\0\0"
                                   "abcdefgh\0"
                                   "\xff\xff\x21\x02\0\x08\0\x15"
                                   "\0\0\0\0\0\0\0\0\0\0"
                                   "abcdefghijkl\0"
                                   "mysql_native_password";
    char              read[1000];
    int               fd = accept(*(int *)context, NULL, NULL);
    usleep(200000); /* the handshake gets what is left of the time */
    assert_int_equal(send(fd, greeting, sizeof greeting, 0), sizeof greeting);
    while (recv(fd, read, sizeof read, 0) > 0)
        continue;
    close(fd);
    return NULL;
}

#endif
