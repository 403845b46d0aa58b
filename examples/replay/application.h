/* application.h - the replay as an application of two endpoints.
 *
 * Threads: one; the handlers write into the job they run for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPLAY_APPLICATION_H
#define REPLAY_APPLICATION_H

#include "log.h"

#include "pawl/pawl.h"

#define REPLAY_ENDPOINT "replay"
#define REPLAY_ARCHIVE "archive" /* the endpoint, its queue and the route to it */
#define REPLAY_WIRE "wire"       /* the route to the queue of the broker, where there is one */
#define REPLAY_AGGREGATOR "by_group"
#define REPLAY_RUN_SIZE 8
#define REPLAY_GROUP_KEY_SIZE 120
#define REPLAY_MESSAGE_ID_SIZE (REPLAY_RUN_SIZE + 32)

/* The data that handlers have beside their message: the endpoints' `user`. */
typedef struct replay_job {
    const replay_log *log;
    const char       *run;
    int64_t           quiet;
    int64_t           batch;
    size_t            chunk;        /* events that one read_on sends */
    size_t            position;     /* events sent, as far as a handler of this process knows */
    bool              is_by_broker; /* events travel through a broker */
    size_t            arrived;      /* events that came back from it for certain */
} replay_job;

/* The tables; one aggregator depends on --batch, so they are filled in. */
typedef struct replay_application {
    pawl_aggregator           by_group;
    const pawl_aggregator    *aggregators[2];
    pawl_endpoint_spec        replay;
    const pawl_endpoint_spec *endpoints[3];
    pawl_application          application;
} replay_application;

/* The tables point into themselves: `made` must stay where it is. */
void replay_application_make(int64_t batch, replay_application *made);

/* The first message of a run, with the id and due time it must have. */
pawl_code replay_application_start(const replay_job *job, pawl_sender *sender, pawl_error *error);

/* The key of a group in the store: never empty, never too long for the name of a partition, unique
 * by the number of the group in the log. */
pawl_text replay_group_key(const replay_log *log, size_t group, char buffer[REPLAY_GROUP_KEY_SIZE]);
/* The name of a log: its fingerprint in hexadecimal. */
pawl_text replay_log_name(const replay_log *log, char buffer[17]);

#endif
