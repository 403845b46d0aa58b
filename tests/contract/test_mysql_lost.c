/* test_mysql_lost.c - every request and every answer of a commit is lost in turn, on MySQL and
 * MariaDB, for every kind of change that can be refused (O32).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/lost_answers.h"
#include "support/tests.h"

#undef TEXT
#include "contract/mysql_proxy.h"
#include "support/fault_strides.h"

static int requests(const lossy *way)
{
    return proxy_requests(way->context);
}

ON_BOTH(o32_what_is_told_is_what_is_there, fixture *p)
{
    char         failure[1000];
    suite_tables tables;
    lossy        way = {.context  = open_proxy(p),
                        .is_brief = true,
                        .part     = strcmp(p->scheme, "mysql") == 0 ? 1 : 2,
                        .lose     = lossy_by_proxy,
                        .was_lost = lossy_proxy_was_cut,
                        .requests = requests,
                        .stride   = 40};
    snprintf(way.direct.url, sizeof way.direct.url, "%s", p->url);
    through_proxy(p, way.context, way.through.url, sizeof way.through.url);
    suite_tables_make(&tables, &way.direct);
    ok(p, pawl_store_schema(p->url, PAWL_SCHEMA_APPLY, &tables.spec, no_line, NULL, &p->error));
    unsigned lost = lost_answers_run(&way, failure, sizeof failure);
    proxy_close(way.context);
    if (failure[0] != '\0')
        fail_msg("%s", failure);
    print_message("%u losses\n", lost);
    assert_true(lost > (is_long_run() ? 100 : 25));
}
