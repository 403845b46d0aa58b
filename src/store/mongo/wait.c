/* wait.c - news by polling: a wait looks at the counter of numbers, which each commit that adds rows raises. A change in
 * place shows in no number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/mongo.h"

static const pawl__field_list fields = PAWL__MONGO_NUMBER("last");

static pawl_code look(pawl_store *store, bool *is_news, int *session_fd, pawl_error *error)
{
    static const pawl__mongo_table table = {.name = "schema", .fields = &fields};
    pawl__mongo                   *self  = pawl__mongo_of(store);
    int64_t                        last  = 0;
    pawl_code code = pawl__mongo_read_one(store, &table, NULL, &last, NULL, error,
                                          "filter: {_id: 'numbers'}, projection: {last: 1}");
    (void)session_fd;
    *is_news   = code == PAWL_OK && last != self->news;
    self->news = last;
    return code;
}

/* A wait of no time looks, too: the next one is for what is committed from then on. */
pawl_code pawl__mongo_wait(pawl_store *store, int64_t microseconds, int wake_fd, pawl_error *error)
{
    bool is_news;
    int  session_fd;
    if (microseconds <= 0)
        return look(store, &is_news, &session_fd, error);
    return pawl__wait_for_news(store, &pawl__mongo_of(store)->wait, microseconds, wake_fd, look,
                               error);
}

void pawl__mongo_interrupt(pawl_store *store)
{
    pawl__wait_interrupt(&pawl__mongo_of(store)->wait);
}
