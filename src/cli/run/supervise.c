/* supervise.c - the parent of `pawl run --restart`, and messages to systemd. See run.h.
 *
 *     start -> wait -> the child stopped in order, or ended with its own error -> end
 *       ^        |---> it crashed after a signal was passed on -> record -------> end
 *       |        v
 *       |      it crashed (a signal, or an exit that nobody asked for)
 *       |        v
 *       +----- record -> pause: 0.2 s, twice as long each time it dies in its first second, up to 30 s
 *
 * The parent opens no store, starts no thread and loads no application, so that none of them can crash it.
 * Another child, the writer, records the crash in the store; the parent waits two seconds for it at most. Signals are
 * blocked except while the parent waits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/run/run.h"

#include "pawl/operations.h"
#include "pawl/store_calls.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <unistd.h>

#define PAUSE_FIRST PAWL_MILLISECONDS(200)
#define PAUSE_MAX PAWL_SECONDS(30)
#define LIFE_SHORT PAWL_SECONDS(1) /* a child that dies sooner is started again later and later */
#define NOTE_WAIT PAWL_SECONDS(2)
#define NOTE_MAX PAWL_SECONDS(20) /* then the writer gives up: the store is unavailable */
#define NOTE_PAUSE_MS 50          /* between two tries */
#define SIGNALLED 128             /* plus the signal: exit code of a killed child, as in shells */

/* Signals that are passed on to the child, except the last, which only ends the wait. */
static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD};
#define SIGNAL_COUNT (sizeof signals / sizeof signals[0])
#define PASSED_COUNT (SIGNAL_COUNT - 1)

static volatile sig_atomic_t came[SIGNAL_COUNT];

typedef struct guard {
    const pawl__store_fields *at;
    void (*listen)(void);                   /* in the child: takes its signals */
    struct sigaction actions[SIGNAL_COUNT]; /* as they were */
    sigset_t         mask;                  /* as it was: that of waiting, too */
    int              relay; /* socket with the child's states for systemd; -1: no child */
    bool             is_stopping, is_child_ending; /* a signal came; the child sent STOPPING */
    pawl_random      random;
    pawl_uuid        process; /* id of the child, under which its crash is recorded */
} guard;

/* ---- systemd ---------------------------------------------------------------- */

static int manager = -1;

/* "@NAME" is in the abstract namespace, whose names begin with a NUL. */
static int connect_to(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t             size    = strlen(name);
    if (size >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, name, size);
    if (name[0] == '@')
        address.sun_path[0] = '\0';
    int       made   = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size);
    if (made >= 0 && connect(made, (struct sockaddr *)&address, length) != 0) {
        int reason = errno;
        close(made);
        errno = reason;
        return -1;
    }
    return made;
}

void pawl__notify_open(void)
{
    const char *name = getenv("NOTIFY_SOCKET");
    if (name == NULL || name[0] == '\0' || manager >= 0)
        return;
    manager = connect_to(name);
    if (manager < 0)
        pawl_log(PAWL_LOG_WARNING, "NOTIFY_SOCKET: cannot connect to %s: %s", name,
                 strerror(errno));
}

/* Sends states to this socket from now on. In a child of --restart: the parent reads it and passes them on. */
static void notify_through(int socket)
{
    if (manager >= 0)
        close(manager);
    manager = socket;
}

void pawl__notify(const char *state)
{
    int reason = errno;
    if (manager >= 0) {
        ssize_t sent = send(manager, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT);
        (void)sent;
    }
    errno = reason;
}

/* ---- Signals ---------------------------------------------------------------- */

static void on_signal(int number)
{
    for (size_t i = 0; i < SIGNAL_COUNT; i++)
        if (signals[i] == number)
            came[i]++;
}

/* Handles the signals, and blocks them except while waiting. An ignored signal stays ignored, as nohup wants it. */
static void take_signals(guard *it)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t         blocked;
    sigemptyset(&action.sa_mask);
    sigemptyset(&blocked);
    for (size_t i = 0; i < SIGNAL_COUNT; i++)
        sigaddset(&blocked, signals[i]);
    sigprocmask(SIG_BLOCK, &blocked, &it->mask);
    for (size_t i = 0; i < SIGNAL_COUNT; i++) {
        sigaction(signals[i], NULL, &it->actions[i]);
        if (it->actions[i].sa_handler != SIG_IGN || signals[i] == SIGCHLD)
            sigaction(signals[i], &action, NULL);
    }
}

static void give_signals_back(const guard *it)
{
    for (size_t i = 0; i < SIGNAL_COUNT; i++)
        sigaction(signals[i], &it->actions[i], NULL);
    sigprocmask(SIG_SETMASK, &it->mask, NULL);
}

static void forward_signals(guard *it, pid_t child)
{
    for (size_t i = 0; i < PASSED_COUNT; i++) {
        for (; came[i] > 0; came[i]--) {
            it->is_stopping = true;
            if (child > 0)
                kill(child, signals[i]);
        }
    }
}

/* ---- Waiting ---------------------------------------------------------------- */

static void tell_manager(guard *it)
{
    char    told[200];
    ssize_t size;
    while (it->relay >= 0 && (size = recv(it->relay, told, sizeof told - 1, MSG_DONTWAIT)) > 0) {
        told[size] = '\0';
        it->is_child_ending |= strcmp(told, PAWL__NOTIFY_STOPPING) == 0;
        pawl__notify(told);
    }
}

/* Returns at a signal, at a state from the child, or after `longest` microseconds; negative: no limit. */
static void wait_a_while(const guard *it, int64_t longest)
{
    struct timespec span = {.tv_sec  = (time_t)(longest / 1000000),
                            .tv_nsec = (long)(longest % 1000000) * 1000};
    fd_set          read;
    FD_ZERO(&read);
    if (it->relay >= 0)
        FD_SET(it->relay, &read);
    (void)pselect(it->relay + 1, &read, NULL, NULL, longest >= 0 ? &span : NULL, &it->mask);
}

static void await_end(guard *it, pid_t child, int *status)
{
    while (waitpid(child, status, WNOHANG) == 0) {
        wait_a_while(it, -1);
        forward_signals(it, child);
        tell_manager(it);
    }
    tell_manager(it);
    close(it->relay);
    it->relay = -1;
}

/* ---- The note --------------------------------------------------------------- */

static pawl_code try_note(const pawl__store_fields *at, const pawl_worker_crash *death,
                          pawl_error *error)
{
    int64_t            count   = 0;
    pawl_store        *store   = NULL;
    pawl_store_options options = pawl__store_options(at, PAWL_OPEN_CHECK);
    pawl_code          code    = pawl_store_open(at->store, &options, &store, error);
    if (code == PAWL_OK)
        code = pawl_store_worker_note_crash(store, death, pawl_clock_now(NULL), &count, error);
    pawl_store_close(store);
    return code;
}

/* Retries, since the reason of the crash may also have made the store unavailable. */
static void write_note(const pawl__store_fields *at, const pawl_worker_crash *death, int64_t end)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_code  code  = try_note(at, death, &error);
    while (pawl_code_retry(code) == PAWL_RETRY_LATER && pawl__steady_now() < end) {
        poll(NULL, 0, NOTE_PAUSE_MS);
        code = try_note(at, death, &error);
    }
    if (code != PAWL_OK)
        pawl_log(code == PAWL_EUNSUPPORTED ? PAWL_LOG_DEBUG : PAWL_LOG_WARNING,
                 "the crash of process %lld could not be recorded: %s", (long long)death->pid,
                 error.text);
}

/* Forks a writer that records the crash. If it takes too long, it goes on beside the next child of the endpoints, whose
 * workers wait for the record when they take over a message. */
static void note(guard *it, const pawl_worker_crash *death)
{
    int64_t begin  = pawl__steady_now();
    pid_t   writer = fork();
    if (writer == 0) {
        give_signals_back(it);
        signal(SIGINT, SIG_IGN); /* Ctrl-C also reaches this process, which finishes the record */
        signal(SIGTERM, SIG_DFL);
        write_note(it->at, death, begin + NOTE_MAX);
        _exit(0);
    }
    while (writer > 0 && waitpid(writer, NULL, WNOHANG) == 0) {
        int64_t left = begin + NOTE_WAIT - pawl__steady_now();
        if (left <= 0)
            break;
        wait_a_while(it, left);
    }
}

/* ---- One child after the other ------------------------------------------------ */

/* The child has its own process group, so that Ctrl-C reaches it only through the parent. If the parent is killed, the
 * child gets SIGTERM. */
static void become_child(const guard *it, pid_t parent, int told)
{
    setpgid(0, 0);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
    if (getppid() != parent)
        _exit(pawl_code_exit(PAWL_EINTERRUPTED));
    notify_through(told);
    pawl_worker_set_supervised(it->process);
    it->listen(); /* while signals are blocked */
    give_signals_back(it);
}

/* Forks a child. Returns 0 in the child; negative: no child was started. */
static pid_t start(guard *it)
{
    int   ends[2];
    pid_t parent        = getpid();
    it->process         = pawl_uuid_v7(&it->random, pawl_clock_now(NULL));
    it->is_child_ending = false;
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) != 0)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        become_child(it, parent, ends[1]);
        return 0;
    }
    int reason = errno;
    close(ends[1]);
    it->relay = ends[0];
    if (child < 0) {
        close(ends[0]);
        it->relay = -1;
        errno     = reason;
    }
    return child;
}

/* Is it an exit code of pawl? Another one comes from a handler that called exit() while the child stopped. */
static bool is_of_command(int exit_code)
{
#define IS_OF(symbol, number, retry, code, text) || exit_code == (code)
    return false PAWL_CODES(IS_OF);
#undef IS_OF
}

static void say_death(const pawl_worker_crash *death, int64_t pause)
{
    pawl_arena *arena = pawl_arena_create(0);
    pawl_text   text  = {0};
    if (arena != NULL)
        text = pawl_worker_crash_text(death, arena);
    if (pause >= 0)
        pawl_log(PAWL_LOG_WARNING, "process %lld %.*s; it is started again in %lld.%lld s",
                 (long long)death->pid, PAWL_TEXT_ARGS(text), (long long)(pause / 1000000),
                 (long long)(pause / 100000 % 10));
    else
        pawl_log(PAWL_LOG_WARNING, "process %lld %.*s, told to stop", (long long)death->pid,
                 PAWL_TEXT_ARGS(text));
    pawl_arena_destroy(arena);
}

static void rest(guard *it, int64_t pause)
{
    int64_t end = pawl__steady_now() + pause;
    for (int64_t left = pause; left > 0 && !it->is_stopping; left = end - pawl__steady_now()) {
        wait_a_while(it, left);
        forward_signals(it, 0);
    }
}

/* Is another child to be started, after `*pause`? A stop that is requested between two children counts as a
 * stop in order. */
static bool has_next(guard *it, pid_t child, int *status, int64_t lived, int64_t *pause)
{
    bool              is_killed = WIFSIGNALED(*status);
    pawl_worker_crash death     = {.pid       = child,
                                   .process   = it->process,
                                   .signal    = is_killed ? WTERMSIG(*status) : 0,
                                   .exit_code = is_killed ? 0 : WEXITSTATUS(*status),
                                   .by        = PAWL_TEXT_INIT("pawl run --restart")};
    if (!is_killed && it->is_child_ending && is_of_command(death.exit_code)) {
        if (death.exit_code == 0 && !it->is_stopping) /* else the child has printed its error */
            pawl_log(PAWL_LOG_INFO, "process %lld was told to stop: it is not started again",
                     (long long)child);
        return false;
    }
    *pause = lived >= LIFE_SHORT || *pause == 0 ? PAUSE_FIRST
             : *pause > PAUSE_MAX / 2           ? PAUSE_MAX
                                                : *pause * 2;
    note(it, &death);
    say_death(&death, it->is_stopping ? -1 : *pause); /* after the record, since a log may block */
    while (waitpid(-1, NULL, WNOHANG) > 0) /* writers of earlier notes; no other child is alive */
        continue;
    if (it->is_stopping)
        return false;
    forward_signals(it, 0);
    rest(it, *pause);
    if (it->is_stopping)
        *status = 0;
    return !it->is_stopping;
}

bool pawl__supervise(const pawl__store_fields *at, void (*listen)(void), int *exit_code)
{
    guard    it     = {.at = at, .listen = listen, .relay = -1};
    uint64_t seed   = 0;
    int64_t  pause  = 0;
    int      status = 0;
    pid_t    child  = -1;
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        seed = (uint64_t)getpid() ^ (uint64_t)pawl_clock_now(NULL);
    pawl_random_seed(&it.random, seed);
    take_signals(&it);
    for (bool is_next = true; is_next;) {
        int64_t begin = pawl__steady_now();
        fflush(stdout);
        child = start(&it);
        if (child == 0)
            return true;
        if (child < 0)
            break;
        await_end(&it, child, &status);
        is_next = has_next(&it, child, &status, pawl__steady_now() - begin, &pause);
    }
    if (child < 0)
        pawl_log(PAWL_LOG_ERROR, "no process for the endpoints: %s", strerror(errno));
    give_signals_back(&it);
    *exit_code = child < 0             ? pawl_code_exit(PAWL_ENOMEM)
                 : WIFSIGNALED(status) ? SIGNALLED + WTERMSIG(status)
                                       : WEXITSTATUS(status);
    return false;
}
