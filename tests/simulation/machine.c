/* machine.c - threads and their turns, heaps, descriptors, clocks.
 *
 * Threads begin as contexts of ucontext.h, and take turns by setjmp: swapcontext would make two system calls for each.
 * The address sanitizer is told of each change of stack.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulation/machine.h"

#include "simulation/heap.h"

#include "pawl/driver.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#if defined(__has_feature) /* clang says it so, gcc by a macro */
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#define SWITCH_BEGIN(save, to, size) __sanitizer_start_switch_fiber(save, to, size)
#define SWITCH_END(save, from, size) __sanitizer_finish_switch_fiber(save, from, size)
#else
#define SWITCH_BEGIN(save, to, size) ((void)0)
#define SWITCH_END(save, from, size) ((void)0)
#endif

#define STACK_SIZE ((size_t)256 * 1024)
#define GUARD_SIZE ((size_t)4096)
#define FDS_MAX 1024
#define OWN_MAX 64

/* ---- State ------------------------------------------------------------------------ */

struct process {
    const char *name;
    heap        heap;
    pawl_random random;
    int64_t     shift;
    int64_t     stalled_until;
    int         threads;
    unsigned    starts;
    char        own[OWN_MAX]; /* its variables, while no thread of it runs */
};

typedef struct thread {
    process   *owner;   /* NULL: the place is free */
    ucontext_t context; /* at its beginning */
    jmp_buf    jump;    /* where it gave way */
    char      *stack;
    void      *fake_stack; /* the sanitizer's */
    void *(*run)(void *);
    machine_main        *main;
    void                *argument;
    int64_t              due;  /* when it goes on; MACHINE_NEVER: when it is woken */
    uint64_t             turn; /* of those with one due time the smallest is first */
    uint64_t             handle;
    pthread_mutex_t     *mutex; /* not free, and waited for */
    uint64_t             joins; /* the thread that it waits for */
    const struct pollfd *polled;
    size_t               polled_count;
    bool                 has_begun, has_ended, is_detached;
} thread;

typedef struct descriptor {
    bool     is_open;
    process *owner; /* NULL: the machine */
    uint64_t count;
} descriptor;

static struct {
    bool        is_on;
    int64_t     now;
    process     self; /* the machine as a process */
    process     processes[MACHINE_PROCESSES_MAX];
    size_t      process_count;
    thread      threads[MACHINE_THREADS_MAX];
    size_t      thread_count; /* places that were ever used */
    thread     *running;
    unsigned    depth; /* of machine_enter */
    descriptor  fds[FDS_MAX];
    uint64_t    turns, handles, steps, trace;
    unsigned    preempt;
    pawl_random random;
    jmp_buf     jump;
    void       *fake_stack;
    const void *stack; /* of the program, for the sanitizer */
    size_t      stack_size;
} machine;

/* Variables that each process has for itself, one behind the other in process.own. */
static struct {
    void  *at;
    size_t size;
} owns[8];
static size_t own_count;

static void die(const char *what)
{
    fprintf(stderr, "simulation: %s\n", what);
    abort();
}

void machine_note(uint64_t what)
{
    machine.trace = (machine.trace ^ what) * UINT64_C(0x9E3779B97F4A7C15);
    machine.trace ^= machine.trace >> 29;
}

static process *current(void)
{
    return machine.running != NULL && machine.depth == 0 ? machine.running->owner : &machine.self;
}

static heap *current_heap(void)
{
    return machine.is_on ? &current()->heap : NULL;
}

/* ---- Turns ---------------------------------------------------------------------------- */

static void schedule(thread *it, int64_t due)
{
    it->due  = due < it->owner->stalled_until ? it->owner->stalled_until : due;
    it->turn = ++machine.turns;
}

static thread *find_next(void)
{
    thread *next = NULL;
    for (size_t i = 0; i < machine.thread_count; i++) {
        thread *it = &machine.threads[i];
        if (it->owner == NULL || it->due == MACHINE_NEVER)
            continue;
        if (next == NULL || it->due < next->due || (it->due == next->due && it->turn < next->turn))
            next = it;
    }
    return next;
}

/* The running thread waits as its `due` says. */
static void give_way(void)
{
    thread *self = machine.running;
    if (machine.depth != 0)
        die("a store waits while it works");
    machine.running = NULL;
    SWITCH_BEGIN(&self->fake_stack, machine.stack, machine.stack_size);
    if (_setjmp(self->jump) == 0)
        _longjmp(machine.jump, 1);
    SWITCH_END(self->fake_stack, &machine.stack, &machine.stack_size);
}

static void free_place(thread *it)
{
    munmap(it->stack - GUARD_SIZE, STACK_SIZE + GUARD_SIZE);
    *it = (thread){.owner = NULL};
}

int64_t machine_next(void)
{
    const thread *next = find_next();
    return next != NULL ? next->due : MACHINE_NEVER;
}

/* From the process to where the library has them, or back. */
static void move_variables(process *it, bool is_back)
{
    char *kept = it->own;
    for (size_t i = 0; i < own_count; kept += owns[i++].size)
        memcpy(is_back ? kept : owns[i].at, is_back ? owns[i].at : kept, owns[i].size);
}

void machine_own(void *variable, size_t size)
{
    size_t sum = size;
    for (size_t i = 0; i < own_count; i++)
        sum += owns[i].size;
    if (sum > OWN_MAX || own_count == sizeof owns / sizeof owns[0])
        die("too many variables of a process");
    owns[own_count].at     = variable;
    owns[own_count++].size = size;
}

void machine_step(void)
{
    thread *next = find_next();
    if (next == NULL)
        die("no thread is left that could go on");
    machine_wait_until(next->due);
    machine.steps++;
    machine_note((uint64_t)machine.now ^ next->handle << 48);
    process *owner  = next->owner;
    machine.running = next;
    move_variables(owner, false);
    SWITCH_BEGIN(&machine.fake_stack, next->stack, STACK_SIZE);
    if (_setjmp(machine.jump) == 0) {
        if (next->has_begun)
            _longjmp(next->jump, 1);
        next->has_begun = true;
        setcontext(&next->context);
    }
    SWITCH_END(machine.fake_stack, NULL, NULL);
    move_variables(owner, true);
    if (next->has_ended && next->owner != NULL && next->is_detached)
        free_place(next);
}

void machine_wait_until(int64_t time)
{
    if (time > machine.now)
        machine.now = time;
}

int64_t machine_now(void)
{
    return machine.now;
}

uint64_t machine_steps(void)
{
    return machine.steps;
}

uint64_t machine_trace(void)
{
    return machine.trace;
}

void machine_pause(int64_t microseconds)
{
    if (machine.running == NULL)
        return;
    schedule(machine.running, machine.now + microseconds);
    give_way();
}

void machine_enter(void)
{
    machine.depth++;
}

void machine_leave(void)
{
    machine.depth--;
}

process *machine_running(void)
{
    return machine.running != NULL ? machine.running->owner : NULL;
}

const char *machine_name(void)
{
    return machine.running != NULL ? machine.running->owner->name : "-";
}

uint64_t machine_draw(uint64_t limit)
{
    return pawl_random_below(&machine.random, limit);
}

void machine_preempt(unsigned per_thousand)
{
    machine.preempt = per_thousand;
}

/* ---- Threads ----------------------------------------------------------------------------- */

static thread *find_thread(uint64_t handle)
{
    for (size_t i = 0; i < machine.thread_count; i++)
        if (machine.threads[i].owner != NULL && machine.threads[i].handle == handle)
            return &machine.threads[i];
    return NULL;
}

static void wake_joining(uint64_t handle)
{
    for (size_t i = 0; i < machine.thread_count; i++)
        if (machine.threads[i].owner != NULL && machine.threads[i].joins == handle)
            schedule(&machine.threads[i], machine.now);
}

/* The first function on a thread's stack. */
static void run_thread(void)
{
    SWITCH_END(NULL, &machine.stack, &machine.stack_size);
    thread *self = machine.running;
    if (self->main != NULL)
        self->main(self->argument);
    else
        self->run(self->argument);
    self->has_ended = true;
    self->owner->threads--;
    schedule(self, MACHINE_NEVER);
    wake_joining(self->handle);
    machine.running = NULL;
    SWITCH_BEGIN(NULL, machine.stack, machine.stack_size);
    _longjmp(machine.jump, 1);
}

static thread *make_thread(process *owner)
{
    size_t at = 0;
    while (at < MACHINE_THREADS_MAX && machine.threads[at].owner != NULL)
        at++;
    if (at == MACHINE_THREADS_MAX)
        die("too many threads");
    if (at == machine.thread_count)
        machine.thread_count++;
    thread *made = &machine.threads[at];
    char   *area = mmap(NULL, STACK_SIZE + GUARD_SIZE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (area == MAP_FAILED || mprotect(area, GUARD_SIZE, PROT_NONE) != 0)
        die("no memory for a stack");
    *made = (thread){.owner = owner, .stack = area + GUARD_SIZE, .handle = ++machine.handles};
    getcontext(&made->context);
    made->context.uc_stack.ss_sp   = made->stack;
    made->context.uc_stack.ss_size = STACK_SIZE;
    made->context.uc_link          = NULL;
    makecontext(&made->context, run_thread, 0);
    owner->threads++;
    schedule(made, machine.now);
    return made;
}

int machine_thread(void *(*run)(void *), void *argument, uint64_t *handle)
{
    thread *made   = make_thread(current());
    made->run      = run;
    made->argument = argument;
    *handle        = made->handle;
    return 0;
}

int machine_join(uint64_t handle)
{
    thread *other = find_thread(handle);
    if (other == NULL)
        return ESRCH;
    while (!other->has_ended) {
        machine.running->joins = handle;
        schedule(machine.running, MACHINE_NEVER);
        give_way();
        machine.running->joins = 0;
    }
    free_place(other);
    return 0;
}

int machine_detach(uint64_t handle)
{
    thread *other = find_thread(handle);
    if (other == NULL)
        return ESRCH;
    other->is_detached = true;
    if (other->has_ended)
        free_place(other);
    return 0;
}

/* ---- Mutexes --------------------------------------------------------------------------------- */

/* The handle of the thread that has it; zero, as libc initialises it, when it is free. */
static int *owner_of(pthread_mutex_t *mutex)
{
    return &mutex->__data.__owner;
}

void machine_lock(pthread_mutex_t *mutex)
{
    thread *self = machine.running;
    int     name = self != NULL ? (int)self->handle : -1;
    if (*owner_of(mutex) == name) {
        if ((mutex->__data.__kind & 3) != PTHREAD_MUTEX_RECURSIVE)
            die("a thread locks a mutex that it has");
        mutex->__data.__count++;
        return;
    }
    if (self != NULL && machine.depth == 0 && machine.preempt != 0 &&
        machine_draw(1000) < machine.preempt)
        machine_pause((int64_t)machine_draw(2000));
    while (*owner_of(mutex) != 0) {
        if (self == NULL)
            die("the machine waits for a mutex");
        self->mutex = mutex;
        schedule(self, MACHINE_NEVER);
        give_way();
        self->mutex = NULL;
    }
    *owner_of(mutex)      = name;
    mutex->__data.__count = 1;
}

void machine_unlock(pthread_mutex_t *mutex)
{
    if (--mutex->__data.__count > 0)
        return;
    *owner_of(mutex) = 0;
    for (size_t i = 0; i < machine.thread_count; i++)
        if (machine.threads[i].owner != NULL && machine.threads[i].mutex == mutex)
            schedule(&machine.threads[i], machine.now);
}

/* ---- Descriptors ------------------------------------------------------------------------------- */

static descriptor *find_fd(int fd)
{
    descriptor *found = fd >= MACHINE_FD_FIRST && fd < MACHINE_FD_FIRST + FDS_MAX
                            ? &machine.fds[fd - MACHINE_FD_FIRST]
                            : NULL;
    return found != NULL && found->is_open ? found : NULL;
}

int machine_eventfd(unsigned count)
{
    for (int i = 0; i < FDS_MAX; i++)
        if (!machine.fds[i].is_open) {
            process *owner = current();
            machine.fds[i] = (descriptor){
                .is_open = true, .owner = owner != &machine.self ? owner : NULL, .count = count};
            return MACHINE_FD_FIRST + i;
        }
    die("too many descriptors");
    return -1;
}

ssize_t machine_read(int fd, uint64_t *count)
{
    descriptor *it = find_fd(fd);
    errno          = it == NULL ? EBADF : EAGAIN;
    if (it == NULL || it->count == 0)
        return -1;
    *count    = it->count;
    it->count = 0;
    return sizeof *count;
}

ssize_t machine_write(int fd, uint64_t count)
{
    descriptor *it = find_fd(fd);
    errno          = EBADF;
    if (it == NULL)
        return -1;
    it->count += count;
    for (size_t i = 0; i < machine.thread_count; i++) {
        thread *other = &machine.threads[i];
        for (size_t k = 0; other->owner != NULL && k < other->polled_count; k++)
            if (other->polled[k].fd == fd && other->due > machine.now)
                schedule(other, machine.now);
    }
    return sizeof count;
}

void machine_close(int fd)
{
    descriptor *it = find_fd(fd);
    if (it != NULL)
        it->is_open = false;
}

static int count_ready(struct pollfd *fds, size_t count)
{
    int ready = 0;
    for (size_t i = 0; i < count; i++) {
        const descriptor *it = find_fd(fds[i].fd);
        if (fds[i].fd >= 0 && it == NULL)
            die("a descriptor is polled that is not open");
        fds[i].revents = it != NULL && it->count != 0 ? POLLIN : 0;
        ready += fds[i].revents != 0;
    }
    return ready;
}

int machine_poll(struct pollfd *fds, size_t count, int64_t microseconds)
{
    int     ready = count_ready(fds, count);
    int64_t end   = microseconds < 0 ? MACHINE_NEVER : machine.now + microseconds;
    thread *self  = machine.running;
    while (ready == 0 && machine.now < end) {
        if (self == NULL)
            die("the machine polls");
        self->polled       = fds;
        self->polled_count = count;
        schedule(self, end);
        give_way();
        self->polled_count = 0;
        ready              = count_ready(fds, count);
    }
    return ready;
}

/* ---- Clocks and chance ---------------------------------------------------------------------------- */

int64_t machine_clock(clockid_t id)
{
    bool is_wall = id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE;
    return machine.now + (is_wall ? current()->shift : 0);
}

void machine_random(void *at, size_t size)
{
    unsigned char *bytes = at;
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)pawl_random_next(&current()->random);
}

/* ---- Processes --------------------------------------------------------------------------------------- */

process *machine_process(const char *name)
{
    if (machine.process_count == MACHINE_PROCESSES_MAX)
        die("too many processes");
    process *made = &machine.processes[machine.process_count++];
    *made         = (process){.name = name};
    heap_init(&made->heap);
    return made;
}

void machine_start(process *it, machine_main *main, void *argument)
{
    pawl_random_seed(&it->random, machine_draw(UINT64_MAX) + ++it->starts);
    thread *made      = make_thread(it);
    made->main        = main;
    made->argument    = argument;
    made->is_detached = true;
}

bool process_is_alive(const process *it)
{
    return it->threads > 0;
}

void machine_crash(process *it, void (*closing)(int fd))
{
    for (size_t i = 0; i < machine.thread_count; i++)
        if (machine.threads[i].owner == it)
            free_place(&machine.threads[i]);
    memset(it->own, 0, sizeof it->own);
    it->threads       = 0;
    it->stalled_until = 0;
    for (int i = 0; i < FDS_MAX; i++)
        if (machine.fds[i].is_open && machine.fds[i].owner == it) {
            if (closing != NULL)
                closing(MACHINE_FD_FIRST + i);
            machine.fds[i].is_open = false;
        }
    heap_free(&it->heap);
}

void machine_stall(process *it, int64_t microseconds)
{
    it->stalled_until = machine.now + microseconds;
    for (size_t i = 0; i < machine.thread_count; i++)
        if (machine.threads[i].owner == it)
            schedule(&machine.threads[i], machine.threads[i].due);
}

void machine_shift(process *it, int64_t microseconds)
{
    it->shift += microseconds;
}

bool machine_is_on(void)
{
    return machine.is_on;
}

void machine_begin(uint64_t seed)
{
    heap_install(current_heap);
    machine.now           = MACHINE_START;
    machine.process_count = 0;
    machine.turns = machine.handles = machine.steps = machine.trace = 0;
    machine.preempt                                                 = 0;
    pawl_random_seed(&machine.random, seed);
    pawl_random_seed(&machine.self.random, seed + 1);
    heap_init(&machine.self.heap);
    machine.is_on = true;
}

void machine_end(void)
{
    for (size_t i = 0; i < machine.process_count; i++)
        machine_crash(&machine.processes[i], NULL);
    heap_free(&machine.self.heap);
    memset(machine.fds, 0, sizeof machine.fds);
    machine.thread_count = 0;
    machine.is_on        = false;
}
