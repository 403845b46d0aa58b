/* store_worker.h - records why a process crashed: its supervisor notes the signal, and workers that take over read it.
 * operations.h has the rules of all calls.
 *
 *     worker_set_supervised               in the process that may crash
 *     waitpid -> { worker_note_crash }    in the supervisor
 *     worker_crash, process_crash, worker_in_flight_read     in any process
 *
 * A store knows that a worker crashed, but not why. A crash that the supervisor noted appears, with its signal, in the
 * history of the message that the process ran in isolation, and in its dead letter (E26). `pawl run --restart`
 * notes crashes; any program that starts workers may.
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
    pawl_uuid process;   /* the id given to worker_set_supervised in it; zeros: none */
    int       signal;    /* as numbered on this machine; 0: it exited */
    int       exit_code; /* without a signal */
    pawl_text by;        /* the supervisor, as "pawl run --restart"; not empty */
    pawl_text reason;    /* more about it, as "out of memory"; or empty */
} pawl_worker_crash;

/* The crash as text: "was killed by signal 6 (SIGABRT)", "exited with code 7", then a colon and the reason, if there is
 * one. In the arena; data NULL: out of memory. */
PAWL_API pawl_text pawl_worker_crash_text(const pawl_worker_crash *crash, pawl_arena *arena);

/* A worker that runs a message in isolation, as the in-flight marker names it: the last entry in
 * the history of the message's row in its queue. */
typedef struct pawl_worker_in_flight {
    pawl_worker_id worker;
    int64_t        pid;
    pawl_time      at; /* machine time: since when the message is in flight */
} pawl_worker_in_flight;

/* Reads `*in_flight` from the history of a queue's row, with the arena's memory. False: no worker runs the message in
 * isolation, or out of memory. From any thread (E26). */
PAWL_API bool pawl_worker_in_flight_read(pawl_arena *arena, pawl_text history,
                                         pawl_worker_in_flight *in_flight);

/* Notes a crash. With an id `process`: as an event in the process's stream, at any time, even before the store notices
 * the crash or after the workers' rows are deleted. `*count` is 1; 0: the crash was noted already.
 *
 * Without an id: as an event in the stream of each worker of the process. `*count` is the number of workers. Zero:
 * the store has not noticed the crash yet (on a server this takes a moment, so try again), the workers ended
 * in order, their rows were deleted by workers that took over, or the crash was noted already. A store knows process
 * ids, but not machines: if processes with equal ids crashed on two machines, and no worker has taken over
 * their messages yet, the crash is noted for both.
 *
 * PAWL_EINVAL, PAWL_ELIMIT  `by` is empty; `by` and `reason` have more than
 *                           PAWL_ERROR_TEXT_SIZE_MAX bytes together
 * PAWL_EUNSUPPORTED         the store does not tell of crashes */
PAWL_API pawl_code pawl_store_worker_note_crash(pawl_store *store, const pawl_worker_crash *crash,
                                                pawl_time now, int64_t *count, pawl_error *error);

/* Declares that a supervisor will note a crash of this process under the id `process`, which must be unique to
 * the process. In-flight markers contain the id, and a worker that takes a message over waits up to ten
 * seconds for the note, instead of one. Zeros: no supervisor. Call it before endpoints run, from any
 * thread. */
PAWL_API void      pawl_worker_set_supervised(pawl_uuid process);
PAWL_API pawl_uuid pawl_worker_process(void);

/* The text of the worker's crash, in the arena; size 0: none is noted. */
PAWL_API pawl_code pawl_store_worker_crash(pawl_store *store, pawl_worker_id worker,
                                           pawl_arena *arena, pawl_text *text, pawl_error *error);

/* The text of the process's crash, in the arena; size 0: none is noted under this id (E26). */
PAWL_API pawl_code pawl_store_process_crash(pawl_store *store, pawl_uuid process, pawl_arena *arena,
                                            pawl_text *text, pawl_error *error);

/* Type of a crash's event, in the streams "pawl.worker/ID" and "pawl.process/ID". Headers: "by", "reason", "text", "pid",
 * "signal" and "exit_code". */
#define PAWL_WORKER_STREAMS "pawl.worker"
#define PAWL_PROCESS_STREAMS "pawl.process"
#define PAWL_WORKER_CRASHED "pawl.worker_died"

/* In-flight markers of timeouts and flushes that run in isolation after a crash. They are events: of a timeout in the
 * stream "pawl.alone/ID/GENERATION", of a flush in "pawl.alone/PARTITION" (if that is too long, "pawl.alone/" and a uuid
 * computed from it). The body has the list of crashes and the worker that runs it now. */
#define PAWL_ISOLATED_STREAMS "pawl.alone"
#define PAWL_ISOLATED_IN_FLIGHT "pawl.timeout_alone"
#define PAWL_ISOLATED_FLUSH "pawl.flush_alone"

#ifdef __cplusplus
}
#endif
#endif
