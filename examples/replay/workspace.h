/* workspace.h - the data of a run: two stores, and the run's own tables in them.
 *
 *     replay_workspace_init -> use -> replay_workspace_clear
 *
 * Table names begin with the run's name, so stores may have other tables, and a run never reads those of an earlier
 * one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPLAY_WORKSPACE_H
#define REPLAY_WORKSPACE_H

#include "application.h"
#include "options.h"

typedef struct replay_workspace {
    char  run[REPLAY_RUN_SIZE + 1];
    char  system_prefix[PAWL_PREFIX_SIZE_MAX + 1]; /* of both stores */
    char *folder;                                  /* created by this run, or NULL */
    char *store;                                   /* URLs */
    char *archive;
    bool  is_one_store; /* both URLs are the same */
} replay_workspace;

/* Draws the run's name and creates the work folder; does not access stores. Clear the workspace even after a failure. */
pawl_code replay_workspace_init(const replay_options *options, replay_workspace *workspace,
                                pawl_error *error);

/* Creates the tables in both stores, unless the stores do so when they are opened; `*is_reached`: both were reached.
 * Refuses a store with pawl tables of a newer version, although the run would not use those. */
pawl_code replay_workspace_prepare(const replay_workspace *workspace, const replay_options *options,
                                   bool *is_reached, pawl_error *error);

/* Do both stores have the run's tables, so that it can be continued? If only the first has them, the run never began,
 * and they are dropped. */
bool replay_workspace_is_begun(const replay_workspace *workspace, const replay_options *options);

/* Number of the run's workers that count as alive. A killed worker may count for some time; until then its leases are
 * valid. */
pawl_code replay_workspace_count_workers(const replay_workspace *workspace,
                                         const replay_options *options, size_t *count,
                                         pawl_error *error);

/* Size of the name of the run's queue in a broker. */
#define REPLAY_QUEUE_SIZE (REPLAY_RUN_SIZE + 8)
void replay_workspace_queue(const replay_workspace *workspace, char name[REPLAY_QUEUE_SIZE]);
/* Removes that queue, if it exists. */
pawl_code replay_workspace_remove_queue(const replay_workspace *workspace,
                                        const replay_options *options, pawl_error *error);
/* Joins the texts; the caller frees the result. NULL: out of memory. */
char *replay_workspace_join(const char *first, const char *second, const char *third);

/* Drops the tables, if they exist. */
pawl_code replay_workspace_drop(const replay_workspace *workspace, pawl_error *error);

/* Frees the workspace; removes the folder if the run created it, unless `is_kept`. */
void replay_workspace_clear(replay_workspace *workspace, bool is_kept);

#endif
