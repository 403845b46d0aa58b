/* store_worker.h - the crash of a process of workers: noted by its supervisor, read by those who take over.
 * operations.h says what is the same for all of these calls.
 *
 *     worker_set_supervised               of the process that may crash
 *     waitpid -> { worker_note_crash }    of the supervisor
 *     worker_crash, process_crash, worker_in_flight_read     of anybody
 *
 * A store tells that a worker crashed, and not why. A supervisor that notes it gives the signal to the history of the message that the process ran in isolation, and so to its dead letter
 * (E26). `pawl run --restart` does; so may any program that starts workers.
 *
 * Threads: as the handle's; worker_crash_text and worker_in_flight_read any.
 * Tests: src/conformance/store/died.c, tests/unit/runtime/test_runtime_deaths.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_WORKER_H
#define PAWL_STORE_WORKER_H

#include "pawl/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The end of a process, as waitpid tells it. */
typedef struct pawl_worker_crash {
    int64_t   pid;
    pawl_uuid process;   /* as worker_set_supervised was told in it; zeros: it was told none */
    int       signal;    /* by the numbers of this machine; 0: it exited */
    int       exit_code; /* without a signal */
    pawl_text by;        /* the supervisor, as "pawl run --restart"; not empty */
    pawl_text reason;    /* besides, as "out of memory"; or empty */
} pawl_worker_crash;

/* "was killed by signal 6 (SIGABRT)", "exited with code 7", and behind a colon the reason. In the
 * arena; data NULL: out of memory. */
PAWL_API pawl_text pawl_worker_crash_text(const pawl_worker_crash *crash, pawl_arena *arena);

/* A worker that runs a message in isolation, as the in-flight marker names it: the last entry in
 * the history of the message's row in its queue. */
typedef struct pawl_worker_in_flight {
    pawl_worker_id worker;
    int64_t        pid;
    pawl_time      at; /* machine time: since when the message is in flight */
} pawl_worker_in_flight;

/* Sets `*in_flight` from the history of a row of the queue, with the arena's memory; false: no worker runs that
 * message in isolation, or there is no memory. Any thread (E26). */
PAWL_API bool pawl_worker_in_flight_read(pawl_arena *arena, pawl_text history,
                                         pawl_worker_in_flight *in_flight);

/* Notes the crash under the id `process`, as an event in a stream of its own, at any time: before the
 * store has noticed it, and after the rows of its workers are gone. `*count` is 1; 0: it is noted already.
 *
 * Without an id: for each worker that the process had, as an event in a stream of that worker. `*count`
 * is for how many: zero while the store has not noticed yet that they crashed, which on a server takes a
 * moment, so try again; and zero when they ended in order, when those who took over ended their rows
 * first, or when their crash is noted already. The store knows process ids, not machines: of two that crashed on different machines with the
 * same id, and whose messages no worker has taken over yet, both are noted.
 *
 * PAWL_EINVAL, PAWL_ELIMIT  `by` is empty; `by` and `reason` have more than
 *                           PAWL_ERROR_TEXT_SIZE_MAX bytes together
 * PAWL_EUNSUPPORTED         the store does not tell of crashes */
PAWL_API pawl_code pawl_store_worker_note_crash(pawl_store *store, const pawl_worker_crash *crash,
                                                pawl_time now, int64_t *count, pawl_error *error);

/* Says that this process has a supervisor that will note its crash, under the id `process`, made for
 * this process alone. The in-flight marker of a message has the id, and whoever takes the message
 * over waits up to ten seconds for the note, instead of one. Zeros: it has none. Called before endpoints
 * run, from any thread. */
PAWL_API void      pawl_worker_set_supervised(pawl_uuid process);
PAWL_API pawl_uuid pawl_worker_process(void);

/* The text of the worker's crash, in the arena; size 0: none is noted. */
PAWL_API pawl_code pawl_store_worker_crash(pawl_store *store, pawl_worker_id worker,
                                           pawl_arena *arena, pawl_text *text, pawl_error *error);

/* The text of the process's crash, in the arena; size 0: none is noted under this id (E26). */
PAWL_API pawl_code pawl_store_process_crash(pawl_store *store, pawl_uuid process, pawl_arena *arena,
                                            pawl_text *text, pawl_error *error);

/* The event's type, in the streams "pawl.worker/ID" and "pawl.process/ID". Headers: "by", "reason", "text", "pid", "signal" and
 * "exit_code". */
#define PAWL_WORKER_STREAMS "pawl.worker"
#define PAWL_PROCESS_STREAMS "pawl.process"
#define PAWL_WORKER_CRASHED "pawl.worker_died"

/* The types of the events beside a timeout that runs in isolation after a crash, in the stream
 * "pawl.alone/ID/GENERATION", and beside the flush of a partition, in "pawl.alone/PARTITION" (where
 * that is too long, "pawl.alone/" and a uuid made of it): their body is the list of its crashes, and
 * the worker that runs it now. */
#define PAWL_ISOLATED_STREAMS "pawl.alone"
#define PAWL_ISOLATED_IN_FLIGHT "pawl.timeout_alone"
#define PAWL_ISOLATED_FLUSH "pawl.flush_alone"

#ifdef __cplusplus
}
#endif
#endif
