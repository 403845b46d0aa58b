/* application.h - the replay as an application of two endpoints.
 *
 * Threads: one; handlers write into their job.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPLAY_APPLICATION_H
#define REPLAY_APPLICATION_H

#include "log.h"

#include "pawl/pawl.h"

#define REPLAY_ENDPOINT "replay"
#define REPLAY_ARCHIVE "archive" /* the endpoint, its queue and the route to it */
#define REPLAY_WIRE "wire"       /* the route to the queue in the broker, if there is one */
#define REPLAY_AGGREGATOR "by_group"
#define REPLAY_RUN_SIZE 8
#define REPLAY_GROUP_KEY_SIZE 120
#define REPLAY_MESSAGE_ID_SIZE (REPLAY_RUN_SIZE + 32)

/* `user` of the endpoints: what handlers need besides their message. */
typedef struct replay_job {
    const replay_log *log;
    const char       *run;
    int64_t           quiet;
    int64_t           batch;
    size_t            chunk;        /* events that one read_on sends */
    size_t            position;     /* events sent, as far as handlers of this process know */
    bool              is_by_broker; /* events travel through a broker */
    size_t            arrived;      /* events that have certainly come back from it */
} replay_job;

/* The tables. They are filled at run time, as an aggregator depends on --batch. */
typedef struct replay_application {
    pawl_aggregator           by_group;
    const pawl_aggregator    *aggregators[2];
    pawl_endpoint_spec        replay;
    const pawl_endpoint_spec *endpoints[3];
    pawl_application          application;
} replay_application;

/* The tables contain pointers to themselves, so `made` must not be moved. */
void replay_application_make(int64_t batch, replay_application *made);

/* Sends the first message of a run, with its id and due time. */
pawl_code replay_application_start(const replay_job *job, pawl_sender *sender, pawl_error *error);

/* The key of a group in the store: never empty, short enough for a partition's name, and unique, as it contains the
 * group's number in the log. */
pawl_text replay_group_key(const replay_log *log, size_t group, char buffer[REPLAY_GROUP_KEY_SIZE]);
/* The name of a log: its fingerprint in hexadecimal. */
pawl_text replay_log_name(const replay_log *log, char buffer[17]);

#endif
