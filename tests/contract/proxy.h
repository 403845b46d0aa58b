/* proxy.h - a proxy on loopback in front of a database server, which loses what a test wants
 * lost.
 *
 *     open -> { cut, end_kept, stall, fake_pids, rename }* -> close
 *
 * It reads the protocol's message headers, and so knows where a client waits for
 * an answer and where the server has given it.
 *
 * Threads: it runs on its own; the functions are for one other thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_CONTRACT_PROXY_H
#define PAWL_TESTS_CONTRACT_PROXY_H

#include "contract/proxy_protocol.h"

#include <stdbool.h>

typedef struct proxy proxy;

typedef enum proxy_loss {
    PROXY_LOSES_NOTHING,
    PROXY_LOSES_REQUEST, /* the server never gets it */
    PROXY_LOSES_ANSWER,  /* the server has done it */
    PROXY_LOSES_REST,    /* the same: the client gets the answer's first bytes */
} proxy_loss;

/* NULL: no connection to the server, or no socket. */
proxy *proxy_open(const proxy_protocol *protocol, const char *host, const char *port);
int    proxy_port(const proxy *p);
/* The next connection that makes its `number`-th request from now on (from 1; connecting
 * is none) loses it, or the answer, and ends there for the client. With `is_kept` the
 * server does not notice. */
void proxy_cut(proxy *p, proxy_loss loss, int number, bool is_kept);
/* The server notices now. */
void proxy_end_kept(proxy *p);
/* A cut that was asked for was made. */
bool proxy_was_cut(proxy *p);
/* The most that a connection made since the last proxy_cut that was to lose something. */
int proxy_requests(proxy *p);
/* Accepts, and moves no byte. */
void proxy_stall(proxy *p, bool is_stalled);
/* Tells clients another process number than the server's, as poolers do. */
void proxy_fake_pids(proxy *p, bool is_on);
/* The server gets the second name where a client sends the first one, which is as long. Both outlive the proxy. */
void proxy_rename(proxy *p, const char *from, const char *to);
int  proxy_accepted(proxy *p); /* connections so far */
void proxy_close(proxy *p);    /* accepts NULL */

#endif
