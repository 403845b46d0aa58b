/* test_postgres_lost.c - every request and every answer of a commit is lost in turn, for
 * every kind of change that can be refused, directly and behind a pooler (O32).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/lost_answers.h"
#include "contract/postgres_trouble.h"
#include "support/fault_strides.h"
#include "support/tests.h"

#ifdef PAWL_SANITIZED
#define PART 3
#else
#define PART 1
#endif

static void take_url(suite_address *address, const char *url)
{
    assert_true(strlen(url) < sizeof address->url);
    memcpy(address->url, url, strlen(url) + 1);
}

static void expect_all_told(fixture *p, lossy *way, const char *through)
{
    char         failure[1000];
    suite_tables tables;
    take_url(&way->direct, p->url);
    take_url(&way->through, through);
    suite_tables_make(&tables, &way->direct);
    apply_schema(p, p->url, tables.list, SUITE_TABLE_COUNT);
    unsigned lost = lost_answers_run(way, failure, sizeof failure);
    proxy_close(way->context);
    if (failure[0] != '\0')
        fail_msg("%s", failure);
    print_message("%u losses\n", lost);
    assert_true(lost > (is_long_run() ? 100 : 25));
}

ON_TROUBLE(o32_what_is_told_is_what_is_there, fixture *p)
{
    char url[1400];
    strcat(p->url, "&options=-c%20synchronous_commit%3Doff");
    lossy way = {.part     = PART,
                 .context  = open_proxy(p),
                 .lose     = lossy_by_proxy,
                 .was_lost = lossy_proxy_was_cut};
    if (way.context == NULL)
        skip();
    proxy_url(p, way.context, url, sizeof url);
    expect_all_told(p, &way, url);
}

ON_TROUBLE(o32_what_is_told_is_what_is_there_behind_a_pooler, fixture *p)
{
    char  url[1400];
    lossy way   = {.is_brief = true,
                   .part     = PART + 1,
                   .lose     = lossy_by_proxy,
                   .was_lost = lossy_proxy_was_cut};
    way.context = open_pooled_proxy(p, url, sizeof url);
    if (way.context == NULL)
        skip();
    expect_all_told(p, &way, url);
}
