/* machine.h - a machine that runs simulated processes in one thread, on virtual time.
 *
 * A process is a set of threads (fibers with stacks of their own), a heap, descriptors, a source of random
 * numbers and a clock. system.c defines the functions of libc by which the library uses all of these, so that
 * the library runs unchanged: pawl_endpoint_run makes its threads, and they sleep in poll and wait for mutexes.
 *
 *     machine_begin -> machine_process* -> machine_start*
 *         -> { machine_step | machine_crash | machine_stall | machine_shift }*  -> machine_end
 *
 * One thread runs at a time, until it sleeps, waits or calls machine_pause; then the one runs whose time comes
 * first. So a run is repeated by its seed. A crash drops a process where it stands: its stacks are not unwound,
 * its heap and its descriptors are gone.
 *
 * A store does its own work as the machine, not as the process that called it (machine_enter): what it
 * allocates outlives the process.
 *
 * Threads: the program has one.
 * Tests: tests/simulation/found, and each fiftieth seed runs twice
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_SIMULATION_MACHINE_H
#define PAWL_SIMULATION_MACHINE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define MACHINE_START INT64_C(1767258000000000) /* microseconds: 2026-01-01T09:00:00Z */
#define MACHINE_PROCESSES_MAX 16
#define MACHINE_THREADS_MAX 256
#define MACHINE_NEVER INT64_MAX

typedef struct process process;
typedef void           machine_main(void *argument);

void machine_begin(uint64_t seed);
/* Drops all processes and frees whatever was allocated since machine_begin. */
void machine_end(void);
bool machine_is_on(void);

/* ---- Processes ---------------------------------------------------------------- */

/* A process without threads. Its name is borrowed until machine_end. */
process *machine_process(const char *name);
/* The name of the running process, or "-". */
const char *machine_name(void);
/* Its first thread; the process ends when the function returns and all of its other threads have ended. */
void machine_start(process *it, machine_main *main, void *argument);
bool process_is_alive(const process *it);
/* A variable of the program that each process has for itself: at first it is all zeros. Before machine_begin. */
void machine_own(void *variable, size_t size);
/* Drops it. `closing` is called for each of the descriptors that it had, and may be NULL. */
void machine_crash(process *it, void (*closing)(int fd));
/* None of its threads goes on for so long, as if by SIGSTOP. */
void machine_stall(process *it, int64_t microseconds);
/* Sets its wall clock forward or back. */
void machine_shift(process *it, int64_t microseconds);

/* ---- Time ---------------------------------------------------------------------- */

int64_t machine_now(void); /* virtual time: that of a wall clock that nobody set */
/* When the next thread goes on; MACHINE_NEVER: none ever does. */
int64_t machine_next(void);
/* Moves time to the next thread's and lets it run until it gives way. */
void machine_step(void);
/* Moves time on while nothing runs, to a moment before machine_next. */
void machine_wait_until(int64_t time);
/* The number of steps since machine_begin, and what all of them were: equal runs have equal traces. */
uint64_t machine_steps(void);
uint64_t machine_trace(void);
/* Adds to the trace. */
void machine_note(uint64_t what);

/* ---- For the running thread ------------------------------------------------------ */

process *machine_running(void); /* NULL: the machine itself */
/* Lets others run; goes on after so long. */
void machine_pause(int64_t microseconds);
/* Between these the running thread is the machine, and gives way to nobody. Nests. */
void machine_enter(void);
void machine_leave(void);
/* A random number below the limit, from the machine's own source. */
uint64_t machine_draw(uint64_t limit);

/* ---- What libc's functions are made of (system.c) ---------------------------------- */

#define MACHINE_FD_FIRST (1 << 20) /* descriptors from here on are the machine's */

struct pollfd;
int64_t machine_clock(clockid_t id);
void    machine_random(void *at, size_t size);
int     machine_eventfd(unsigned count);
ssize_t machine_read(int fd, uint64_t *count);
ssize_t machine_write(int fd, uint64_t count);
void    machine_close(int fd);
int     machine_poll(struct pollfd *fds, size_t count, int64_t microseconds); /* -1: for ever */
int     machine_thread(void *(*run)(void *), void *argument, uint64_t *handle);
int     machine_join(uint64_t handle);
int     machine_detach(uint64_t handle);
void    machine_lock(pthread_mutex_t *mutex);
void    machine_unlock(pthread_mutex_t *mutex);

/* How often of a thousand times a thread that takes a mutex lets others run before. 0 at first. */
void machine_preempt(unsigned per_thousand);

#endif
