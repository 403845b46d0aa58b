/* hosts.c - chooses the hosts to which a connection is begun: see hosts.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/hosts.h"

#include <stdlib.h>
#include <string.h>

#define LIMIT_MS 10000
#define LIMIT_S_MAX 3600

static size_t count_of(const char *list)
{
    size_t count = list != NULL && list[0] != '\0';
    for (; count > 0 && *list != '\0'; list++)
        count += *list == ',';
    return count;
}

/* The list without its first `count` items. */
static const char *skip(const char *list, size_t count)
{
    for (; count > 0 && list != NULL; count--) {
        list = strchr(list, ',');
        list = list != NULL ? list + 1 : NULL;
    }
    return list;
}

/* A single port is for all hosts. */
static const char *skip_ports(const pawl__pg_hosts *hosts, size_t count)
{
    return count_of(hosts->ports) > 1 ? skip(hosts->ports, count) : hosts->ports;
}

static int64_t limit_of(const char *seconds, size_t count)
{
    long limit = seconds != NULL ? strtol(seconds, NULL, 10) : 0;
    if (limit <= 0)
        return seconds == NULL && count > 1 ? LIMIT_MS : 0;
    return (int64_t)(limit < LIMIT_S_MAX ? limit : LIMIT_S_MAX) * 1000;
}

void pawl__pg_hosts_init(pawl__pg_hosts *hosts, const PQconninfoOption *list)
{
    const char *seconds = NULL;
    *hosts              = (pawl__pg_hosts){.count = 1};
    for (; list->keyword != NULL; list++) {
        if (strcmp(list->keyword, "host") == 0)
            hosts->names = list->val;
        else if (strcmp(list->keyword, "hostaddr") == 0)
            hosts->addresses = list->val;
        else if (strcmp(list->keyword, "port") == 0)
            hosts->ports = list->val;
        else if (strcmp(list->keyword, "connect_timeout") == 0)
            seconds = list->val;
    }
    if (count_of(hosts->names) > 1)
        hosts->count = count_of(hosts->names);
    else if (count_of(hosts->addresses) > 1)
        hosts->count = count_of(hosts->addresses);
    hosts->limit_ms = limit_of(seconds, hosts->count);
}

const char *pawl__pg_hosts_value(const pawl__pg_hosts *hosts, const PQconninfoOption *option)
{
    if (hosts->first == 0)
        return option->val;
    if (strcmp(option->keyword, "host") == 0)
        return skip(hosts->names, hosts->first);
    if (strcmp(option->keyword, "hostaddr") == 0)
        return skip(hosts->addresses, hosts->first);
    return strcmp(option->keyword, "port") == 0 ? skip_ports(hosts, hosts->first) : option->val;
}

/* Is the list's first item this text? An empty item is libpq's default, which fits any. */
static bool is_item(const char *list, const char *text)
{
    size_t size = list != NULL ? strcspn(list, ",") : 0;
    return size == 0 || text == NULL || (strlen(text) == size && memcmp(list, text, size) == 0);
}

static bool is_at(const pawl__pg_hosts *hosts, size_t index, const PGconn *pg)
{
    const char *name = skip(hosts->names, index);
    if (name == NULL || *name == ',' || *name == '\0')
        name = skip(hosts->addresses, index);
    return is_item(name, PQhost(pg)) && is_item(skip_ports(hosts, index), PQport(pg));
}

void pawl__pg_hosts_note(pawl__pg_hosts *hosts, const PGconn *pg, int64_t now_ms)
{
    size_t index = hosts->current;
    while (index < hosts->count && !is_at(hosts, index, pg))
        index++;
    if (hosts->since_ms != 0 && (index == hosts->current || index == hosts->count))
        return;
    hosts->current  = index < hosts->count ? index : hosts->current;
    hosts->since_ms = now_ms;
}

int64_t pawl__pg_hosts_rest(const pawl__pg_hosts *hosts, int64_t now_ms)
{
    return hosts->limit_ms > 0 ? hosts->since_ms + hosts->limit_ms - now_ms : INT64_MAX;
}

bool pawl__pg_hosts_next(pawl__pg_hosts *hosts)
{
    hosts->first    = ++hosts->current;
    hosts->since_ms = 0;
    return hosts->first < hosts->count;
}
