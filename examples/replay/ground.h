/* ground.h - the data of a run: two stores, and the run's own tables in them.
 *
 *     replay_ground_init -> use -> replay_ground_clear
 *
 * Table names begin with the run's name, so stores may have other tables, and a run never reads those of an earlier
 * one.
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
    char *folder;                                  /* created by this run, or NULL */
    char *store;                                   /* URLs */
    char *archive;
    bool  is_one_store; /* both URLs are the same */
} replay_ground;

/* Draws the run's name and creates the work folder; does not access stores. Clear the ground even after a failure. */
pawl_code replay_ground_init(const replay_options *options, replay_ground *ground,
                             pawl_error *error);

/* Creates the tables in both stores, unless the stores do so when they are opened; `*is_reached`: both were reached.
 * Refuses a store with pawl tables of a newer version, although the run would not use those. */
pawl_code replay_ground_prepare(const replay_ground *ground, const replay_options *options,
                                bool *is_reached, pawl_error *error);

/* Do both stores have the run's tables, so that it can be continued? If only the first has them, the run never began,
 * and they are dropped. */
bool replay_ground_is_begun(const replay_ground *ground, const replay_options *options);

/* Number of the run's workers that count as alive. A killed worker may count for some time; until then its leases are
 * valid. */
pawl_code replay_ground_count_workers(const replay_ground *ground, const replay_options *options,
                                      size_t *count, pawl_error *error);

/* Size of the name of the run's queue in a broker. */
#define REPLAY_QUEUE_SIZE (REPLAY_RUN_SIZE + 8)
void replay_ground_queue(const replay_ground *ground, char name[REPLAY_QUEUE_SIZE]);
/* Removes that queue, if it exists. */
pawl_code replay_ground_remove_queue(const replay_ground *ground, const replay_options *options,
                                     pawl_error *error);
/* Joins the texts; the caller frees the result. NULL: out of memory. */
char *replay_ground_join(const char *first, const char *second, const char *third);

/* Drops the tables, if they exist. */
pawl_code replay_ground_drop(const replay_ground *ground, pawl_error *error);

/* Frees the ground; removes the folder if the run created it, unless `is_kept`. */
void replay_ground_clear(replay_ground *ground, bool is_kept);

#endif
