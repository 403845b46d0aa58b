/* ground.h - the data of a run: two stores, and the run's own tables in them.
 *
 *     replay_ground_init -> use -> replay_ground_clear
 *
 * The names of a run's tables begin with the run's name, so that a store may have other
 * tables, and a run never reads those of an earlier one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPLAY_GROUND_H
#define REPLAY_GROUND_H

#include "application.h"
#include "options.h"

typedef struct replay_ground {
    char  run[REPLAY_RUN_SIZE + 1];
    char  system_prefix[PAWL_PREFIX_SIZE_MAX + 1]; /* of both stores */
    char *folder;                                  /* made by this run, or NULL */
    char *store;                                   /* URLs */
    char *archive;
    bool  is_one_store; /* both URLs are the same */
} replay_ground;

/* Draws the run's name and makes the work folder; touches no store. The ground
 * may be cleared whatever the answer. */
pawl_code replay_ground_init(const replay_options *options, replay_ground *ground,
                             pawl_error *error);

/* Creates the tables in both stores, unless the stores do so themselves when they
 * are opened; `*is_reached` says that both were there. Refuses a store whose pawl tables are of a
 * newer version, though it would not touch them. */
pawl_code replay_ground_prepare(const replay_ground *ground, const replay_options *options,
                                bool *is_reached, pawl_error *error);

/* Whether both stores hold the tables of the run, so that it can go on. When only
 * the first does, the run never began: its tables are dropped again. */
bool replay_ground_is_begun(const replay_ground *ground, const replay_options *options);

/* How many workers of the run live, as far as the stores know. A killed worker
 * may count for a while; until then its leases are valid. */
pawl_code replay_ground_count_workers(const replay_ground *ground, const replay_options *options,
                                      size_t *count, pawl_error *error);

/* The name of the run's queue in a broker. */
#define REPLAY_QUEUE_SIZE (REPLAY_RUN_SIZE + 8)
void replay_ground_queue(const replay_ground *ground, char name[REPLAY_QUEUE_SIZE]);
/* Removes that queue; harmless when it is gone. */
pawl_code replay_ground_remove_queue(const replay_ground *ground, const replay_options *options,
                                     pawl_error *error);
/* The three texts as one, to be freed; NULL: out of memory. */
char *replay_ground_join(const char *first, const char *second, const char *third);

/* Drops the tables. Harmless when they are gone. */
pawl_code replay_ground_drop(const replay_ground *ground, pawl_error *error);

/* Frees; removes the folder if the run made one, unless it is to be kept. */
void replay_ground_clear(replay_ground *ground, bool is_kept);

#endif
