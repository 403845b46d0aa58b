/* mysql_proxy.h - a proxy in front of MySQL or MariaDB, without TLS, which it could not read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_CONTRACT_MYSQL_PROXY_H
#define PAWL_TESTS_CONTRACT_MYSQL_PROXY_H

#include "contract/mysql_fixture.h"
#include "contract/proxy.h"

static inline proxy *open_proxy(const fixture *p)
{
    const char *port    = test_text("%u", p->port);
    proxy      *between = proxy_open(&proxy_mysql, p->host, port);
    assert_non_null(between);
    return between;
}

static inline void through_proxy(const fixture *p, const proxy *between, char *url, size_t size)
{
    int length = snprintf(url, size, "%s://root@127.0.0.1:%d/%s?ssl-mode=disabled", p->scheme,
                          proxy_port(between), p->database);
    assert_true(length > 0 && (size_t)length < size);
}

#endif
