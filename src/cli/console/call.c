/* call.c - runs one verb of this command as a process, within a time and an amount of output.
 *
 * The store's URL, which may have a password, goes to the process in its environment: the words of a process can be
 * read by every user of the machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/console/console.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUNNING_MAX 4  /* processes at a time, a connection to the store each */
#define WAITING_MAX 32 /* requests that wait for one of them to end */
#define TIME_MAX_MS 15000
#define OUT_SIZE_MAX ((size_t)24 * 1024 * 1024) /* a body at its limit, escaped */
#define ERR_SIZE_MAX ((size_t)64 * 1024)

extern char **environ;

/* ---- Words ------------------------------------------------------------------- */

bool pawl__console_word(pawl__console_call *call, pawl_arena *arena, const char *name,
                        const char *value)
{
    pawl_text word =
        name == NULL ? pawl_text_of(value) : pawl_arena_printf(arena, "--%s=%s", name, value);
    if (word.data == NULL || call->count == PAWL__CONSOLE_WORDS_MAX)
        return false;
    call->words[call->count++] = word.data;
    return true;
}

pawl_text pawl__console_array(pawl_text lines, pawl_arena *arena)
{
    char  *made = pawl_arena_take(arena, lines.size + 3);
    size_t size = 0;
    if (made == NULL)
        return (pawl_text){0};
    made[size++] = '[';
    for (size_t i = 0; i < lines.size; i++)
        if (lines.data[i] != '\n')
            made[size++] = lines.data[i];
        else if (i + 1 < lines.size)
            made[size++] = ',';
    made[size++] = ']';
    made[size]   = '\0';
    return (pawl_text){.data = made, .size = size};
}

/* ---- Turns ------------------------------------------------------------------- */

static int64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

static pawl_code take_turn(pawl__console *console, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    pthread_mutex_lock(&console->mutex);
    if (console->running >= RUNNING_MAX && console->waiting >= WAITING_MAX)
        code = pawl_error_set(error, PAWL_EBUSY, "%d requests wait already", WAITING_MAX);
    console->waiting++;
    while (code == PAWL_OK && console->running >= RUNNING_MAX)
        pthread_cond_wait(&console->is_free, &console->mutex);
    console->waiting--;
    console->running += code == PAWL_OK;
    pthread_mutex_unlock(&console->mutex);
    return code;
}

static void end_turn(pawl__console *console)
{
    pthread_mutex_lock(&console->mutex);
    console->running--;
    pthread_cond_signal(&console->is_free);
    pthread_mutex_unlock(&console->mutex);
}

/* ---- The process -------------------------------------------------------------- */

enum { TO_VERB, OUT, ERR, PIPES };

typedef struct process {
    pid_t  pid;
    int    ours[PIPES], theirs[PIPES]; /* ends of the pipes; -1: closed */
    char  *data[PIPES];                /* of OUT and ERR: what was printed */
    size_t size[PIPES], capacity[PIPES];
    size_t written;  /* of the input */
    bool   is_ended; /* by this side */
} process;

static void close_end(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

static pawl_code open_pipes(process *it, pawl_error *error)
{
    for (int i = 0; i < PIPES; i++)
        it->ours[i] = it->theirs[i] = -1;
    for (int i = 0; i < PIPES; i++) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0)
            return pawl_error_set(error, PAWL_ENOMEM, "no pipe for a verb: %s", strerror(errno));
        it->ours[i]   = ends[i == TO_VERB];
        it->theirs[i] = ends[i != TO_VERB];
        (void)fcntl(it->ours[i], F_SETFL, O_NONBLOCK);
    }
    return PAWL_OK;
}

/* The environment of this process with the store and the user; in the arena. */
static char **environment(const pawl__console *console, const char *user, pawl_arena *arena)
{
    static const char *const own[] = {"PAWL_STORE=", PAWL__CONSOLE_USER "="};
    size_t                   count = 0, kept = 0;
    while (environ[count] != NULL)
        count++;
    char    **made  = pawl_arena_take(arena, (count + 3) * sizeof *made);
    pawl_text store = pawl_arena_printf(arena, "%s%s", own[0], console->store);
    pawl_text name  = pawl_arena_printf(arena, "%s%s", own[1], user != NULL ? user : "");
    if (made == NULL || store.data == NULL || name.data == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], own[0], strlen(own[0])) != 0 &&
            strncmp(environ[i], own[1], strlen(own[1])) != 0)
            made[kept++] = environ[i];
    made[kept++] = (char *)(uintptr_t)store.data;
    if (user != NULL)
        made[kept++] = (char *)(uintptr_t)name.data;
    made[kept] = NULL;
    return made;
}

/* The signals that the server's threads block are open in the process. */
static pawl_code spawn(process *it, const pawl__console *console, const pawl__console_call *call,
                       pawl_arena *arena, pawl_error *error)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t          attributes;
    sigset_t                   none, usual;
    char                     **with  = environment(console, call->user, arena);
    char                     **words = pawl_arena_take(arena, (call->count + 2) * sizeof *words);
    if (with == NULL || words == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    words[0] = (char *)(uintptr_t) "pawl";
    memcpy(words + 1, call->words, call->count * sizeof *words);
    words[call->count + 1] = NULL;
    (void)posix_spawn_file_actions_init(&actions);
    for (int i = 0; i < PIPES; i++)
        (void)posix_spawn_file_actions_adddup2(&actions, it->theirs[i], i);
    (void)posix_spawnattr_init(&attributes);
    (void)sigemptyset(&none);
    (void)sigfillset(&usual);
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    (void)posix_spawnattr_setsigdefault(&attributes, &usual);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int failed = posix_spawn(&it->pid, "/proc/self/exe", &actions, &attributes, words, with);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attributes);
    for (int i = 0; i < PIPES; i++)
        close_end(&it->theirs[i]);
    return failed == 0
               ? PAWL_OK
               : pawl_error_set(error, PAWL_ENOMEM, "cannot run a verb: %s", strerror(failed));
}

/* Reads what there is; false: it printed too much, or there is no memory. */
static bool read_some(process *it, int which, size_t size_max)
{
    if (it->size[which] == it->capacity[which]) {
        size_t capacity = it->capacity[which] != 0 ? 2 * it->capacity[which] : 16384;
        char  *grown = it->size[which] < size_max ? pawl_resize(it->data[which], capacity) : NULL;
        if (grown == NULL)
            return false;
        it->data[which]     = grown;
        it->capacity[which] = capacity;
    }
    ssize_t count = read(it->ours[which], it->data[which] + it->size[which],
                         it->capacity[which] - it->size[which]);
    if (count > 0)
        it->size[which] += (size_t)count;
    else if (count == 0 || (errno != EAGAIN && errno != EINTR))
        close_end(&it->ours[which]);
    return true;
}

static void write_some(process *it, pawl_text input)
{
    ssize_t count = it->written < input.size ? write(it->ours[TO_VERB], input.data + it->written,
                                                     input.size - it->written)
                                             : 0;
    if (count > 0)
        it->written += (size_t)count;
    if (it->written == input.size || (count < 0 && errno != EAGAIN && errno != EINTR))
        close_end(&it->ours[TO_VERB]);
}

/* Until the verb closed its outputs. One that takes too long, or prints too much, is ended. */
static void talk(process *it, pawl_text input)
{
    int64_t end     = now_ms() + TIME_MAX_MS;
    bool    is_well = true;
    while (is_well && (it->ours[OUT] >= 0 || it->ours[ERR] >= 0)) {
        struct pollfd ends[PIPES] = {{it->ours[TO_VERB], POLLOUT, 0},
                                     {it->ours[OUT], POLLIN, 0},
                                     {it->ours[ERR], POLLIN, 0}};
        int64_t       left        = end - now_ms();
        if (left <= 0 || (poll(ends, PIPES, (int)left) < 0 && errno != EINTR))
            break;
        if (ends[TO_VERB].revents != 0)
            write_some(it, input);
        if (ends[OUT].revents != 0)
            is_well = read_some(it, OUT, OUT_SIZE_MAX);
        if (is_well && ends[ERR].revents != 0)
            is_well = read_some(it, ERR, ERR_SIZE_MAX);
    }
    it->is_ended = it->ours[OUT] >= 0 || it->ours[ERR] >= 0;
    if (it->is_ended)
        (void)kill(it->pid, SIGKILL);
}

static pawl_code run(pawl__console *console, const pawl__console_call *call, process *it,
                     pawl_arena *arena, pawl__console_result *result, pawl_error *error)
{
    int       status = 0;
    pawl_code code   = open_pipes(it, error);
    if (code == PAWL_OK)
        code = spawn(it, console, call, arena, error);
    if (code != PAWL_OK)
        return code;
    talk(it, call->input);
    while (waitpid(it->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    result->exit_code = !it->is_ended && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    result->out = pawl_arena_text(arena, (pawl_text){.data = it->data[OUT], .size = it->size[OUT]});
    result->err = pawl_arena_text(arena, (pawl_text){.data = it->data[ERR], .size = it->size[ERR]});
    if ((result->out.data == NULL && it->size[OUT] > 0) ||
        (result->err.data == NULL && it->size[ERR] > 0))
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    return PAWL_OK;
}

pawl_code pawl__console_run(pawl__console *console, const pawl__console_call *call,
                            pawl_arena *arena, pawl__console_result *result, pawl_error *error)
{
    process   it   = {.pid = 0};
    pawl_code code = take_turn(console, error);
    if (code != PAWL_OK)
        return code;
    code = run(console, call, &it, arena, result, error);
    for (int i = 0; i < PIPES; i++) {
        close_end(&it.ours[i]);
        close_end(&it.theirs[i]);
        pawl_free(it.data[i]);
    }
    end_turn(console);
    return code;
}
