/* wake.c - the process-wide list of descriptors that wait for commits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/wait.h"

#include "pawl/store_driver.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

typedef struct waiter {
    char identity[sizeof((pawl_store *)NULL)->identity];
    int  eventfd;
    bool is_reader; /* of the event store: woken only for events */
} waiter;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static waiter         *waiters;
static size_t          waiter_count;
static size_t          waiter_capacity;

static bool is_listed(const char *identity, int eventfd, bool is_reader)
{
    for (size_t i = 0; i < waiter_count; i++)
        if (waiters[i].eventfd == eventfd && waiters[i].is_reader == is_reader &&
            strcmp(waiters[i].identity, identity) == 0)
            return true;
    return false;
}

static bool reserve_one(void)
{
    if (waiter_count < waiter_capacity)
        return true;
    size_t  larger = waiter_capacity != 0 ? waiter_capacity * 2 : 16;
    waiter *grown  = pawl_resize(waiters, larger * sizeof *grown);
    if (grown == NULL)
        return false;
    waiters         = grown;
    waiter_capacity = larger;
    return true;
}

static pawl_code add_waiter(const char *identity, size_t size, int eventfd, bool is_reader,
                            pawl_error *error)
{
    if (is_listed(identity, eventfd, is_reader))
        return PAWL_OK;
    if (!reserve_one())
        return pawl_error_set(error, PAWL_ENOMEM, "wake-up of '%s': out of memory", identity);
    waiter *added = &waiters[waiter_count++];
    memcpy(added->identity, identity, size + 1);
    added->eventfd   = eventfd;
    added->is_reader = is_reader;
    return PAWL_OK;
}

static pawl_code add_to_list(const char *identity, int eventfd, bool is_reader, pawl_error *error)
{
    size_t size = strlen(identity);
    if (size >= sizeof(((waiter *)NULL)->identity))
        return pawl_error_set(error, PAWL_ELIMIT,
                              "identity of a store: it has %zu bytes, limit %zu", size,
                              sizeof(((waiter *)NULL)->identity) - 1);
    pthread_mutex_lock(&mutex);
    pawl_code code = add_waiter(identity, size, eventfd, is_reader, error);
    pthread_mutex_unlock(&mutex);
    return code;
}

pawl_code pawl__wake_add(const char *identity, int eventfd, pawl_error *error)
{
    return add_to_list(identity, eventfd, false, error);
}

pawl_code pawl__wake_add_reader(const char *identity, int eventfd, pawl_error *error)
{
    return add_to_list(identity, eventfd, true, error);
}

void pawl__wake_remove(int eventfd)
{
    pthread_mutex_lock(&mutex);
    size_t kept = 0;
    for (size_t i = 0; i < waiter_count; i++)
        if (waiters[i].eventfd != eventfd)
            waiters[kept++] = waiters[i];
    waiter_count = kept;
    if (kept == 0) {
        pawl_free(waiters);
        waiters         = NULL;
        waiter_capacity = 0;
    }
    pthread_mutex_unlock(&mutex);
}

static void wake(const char *identity, bool is_reader)
{
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < waiter_count; i++) {
        const uint64_t one = 1;
        if (waiters[i].is_reader != is_reader || strcmp(waiters[i].identity, identity) != 0)
            continue;
        /* A counter that is full is readable already; nothing else can fail. */
        ssize_t written = write(waiters[i].eventfd, &one, sizeof one);
        (void)written;
    }
    pthread_mutex_unlock(&mutex);
}

void pawl__wake_all(const char *identity)
{
    wake(identity, false);
}

void pawl__wake_readers(const char *identity)
{
    wake(identity, true);
}
