/* child.c - runs a verb as a child process: writes its input, reads its outputs, limits its time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/base/child.h"

#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ERR_SIZE_MAX ((size_t)64 * 1024)
#define TICK_MS 1000
#define END_MS 3000          /* from SIGTERM to SIGKILL */
#define PARENT "PAWL_PARENT" /* the process that runs the verb */

extern char **environ;

/* ---- The process -------------------------------------------------------------- */

enum { TO_VERB, OUT, ERR, PIPES };

typedef struct process {
    pid_t  pid;
    int    ours[PIPES], theirs[PIPES]; /* ends of the pipes; -1: closed */
    char  *data[PIPES];                /* of OUT and ERR: what was printed */
    size_t size[PIPES], capacity[PIPES];
    size_t written;  /* of the input */
    bool   is_ended; /* the parent has ended it */
    bool   is_late;
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

static bool has_name(const char *left, const char *right)
{
    size_t size = strcspn(right, "=") + 1;
    return strncmp(left, right, size) == 0;
}

void pawl__child_begin(void)
{
    const char *parent = getenv(PARENT);
    if (parent == NULL)
        return;
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (strtol(parent, NULL, 10) != getppid()) /* the parent ended before the call */
        (void)raise(SIGTERM);
    (void)unsetenv(PARENT);
}

static char *const *loads;
static size_t       load_count;

void pawl__child_loads(char *const *words, size_t count)
{
    loads      = words;
    load_count = count;
}

/* The environment of this process with the variables of the child; in the arena. */
static char **environment(const pawl__child *child, pawl_arena *arena)
{
    enum { OWN = 3 };
    const pawl_text own[OWN] = {
        pawl_arena_printf(arena, PARENT "=%ld", (long)getpid()),
        pawl_arena_printf(arena, PAWL__CONSOLE_USER "=%.*s", PAWL_TEXT_ARGS(child->asker)),
        pawl_arena_printf(arena, "PAWL_STORE=%s", child->store)};
    size_t count = 0, kept = 0;
    while (environ[count] != NULL)
        count++;
    char **made = pawl_arena_take(arena, (count + OWN + 1) * sizeof *made);
    if (made == NULL || own[0].data == NULL || own[1].data == NULL || own[2].data == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        bool is_own = false;
        for (size_t j = 0; j < OWN; j++)
            is_own = is_own || has_name(environ[i], own[j].data);
        if (!is_own)
            made[kept++] = environ[i];
    }
    for (size_t j = 0; j < OWN; j++)
        made[kept++] = (char *)(uintptr_t)own[j].data;
    made[kept] = NULL;
    return made;
}

/* Starts the process, with the signals unblocked that the server's threads block. */
static pawl_code spawn(process *it, const pawl__child *child, pawl_arena *arena, pawl_error *error)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t          attributes;
    sigset_t                   none, usual;
    char                     **with  = environment(child, arena);
    size_t                     count = load_count + child->count + 2;
    char                     **words = pawl_arena_take(arena, count * sizeof *words);
    if (with == NULL || words == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    words[0] = (char *)(uintptr_t) "pawl";
    if (load_count > 0)
        memcpy(words + 1, loads, load_count * sizeof *words);
    memcpy(words + 1 + load_count, child->words, child->count * sizeof *words);
    words[count - 1] = NULL;
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

/* Reads some bytes. False: the output is too large, or memory is short. Only the end of standard error is kept. */
static bool read_some(process *it, int which)
{
    if (which == ERR && it->size[ERR] >= ERR_SIZE_MAX) {
        memmove(it->data[ERR], it->data[ERR] + ERR_SIZE_MAX / 2, it->size[ERR] - ERR_SIZE_MAX / 2);
        it->size[ERR] -= ERR_SIZE_MAX / 2;
    }
    if (it->size[which] == it->capacity[which]) {
        size_t capacity = it->capacity[which] != 0 ? 2 * it->capacity[which] : 16384;
        char  *grown =
            it->size[which] < PAWL__CHILD_OUT_MAX ? pawl_resize(it->data[which], capacity) : NULL;
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

/* Waits once for the pipes, then reads and writes what is possible. False: the output is too large. */
static bool exchange(process *it, const pawl__child *child, int wait_ms)
{
    bool          is_well     = true;
    struct pollfd ends[PIPES] = {
        {it->ours[TO_VERB], POLLOUT, 0}, {it->ours[OUT], POLLIN, 0}, {it->ours[ERR], POLLIN, 0}};
    if (poll(ends, PIPES, wait_ms) < 0)
        return errno == EINTR;
    if (ends[TO_VERB].revents != 0)
        write_some(it, child->input);
    if (ends[OUT].revents != 0)
        is_well = read_some(it, OUT);
    if (is_well && ends[ERR].revents != 0)
        is_well = read_some(it, ERR);
    return is_well;
}

/* Exchanges data until the verb closes its outputs. A verb that takes too long gets SIGTERM, so that it can print how
 * far it came. If it goes on all the same, or prints too much, it is killed. */
static void talk(process *it, const pawl__child *child)
{
    int64_t begun = pawl__steady_now() / 1000, tick = begun + TICK_MS;
    bool    is_well = true, is_told = false;
    while (is_well && (it->ours[OUT] >= 0 || it->ours[ERR] >= 0)) {
        int64_t now = pawl__steady_now() / 1000, left = tick - now;
        if (left <= 0) {
            tick = now + TICK_MS;
            if (!is_told && child->goes_on != NULL &&
                !child->goes_on(child->context,
                                (pawl_text){.data = it->data[ERR], .size = it->size[ERR]})) {
                is_told = true;
                (void)kill(it->pid, SIGTERM);
            }
            left = TICK_MS;
        }
        if (!it->is_late && child->time_max != 0 && now - begun >= child->time_max) {
            it->is_late = true;
            (void)kill(it->pid, SIGTERM);
        }
        is_well = (!it->is_late || now - begun < child->time_max + END_MS) &&
                  exchange(it, child, (int)left);
    }
    it->is_ended = it->ours[OUT] >= 0 || it->ours[ERR] >= 0;
    if (it->is_ended)
        (void)kill(it->pid, SIGKILL);
}

static pawl_code run(const pawl__child *child, process *it, pawl_arena *arena,
                     pawl__child_result *result, pawl_error *error)
{
    int       status = 0;
    pawl_code code   = open_pipes(it, error);
    if (code == PAWL_OK)
        code = spawn(it, child, arena, error);
    if (code != PAWL_OK)
        return code;
    talk(it, child);
    while (waitpid(it->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    result->exit_code = !it->is_ended && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    result->is_late   = it->is_late;
    result->out = pawl_arena_text(arena, (pawl_text){.data = it->data[OUT], .size = it->size[OUT]});
    result->err = pawl_arena_text(arena, (pawl_text){.data = it->data[ERR], .size = it->size[ERR]});
    if ((result->out.data == NULL && it->size[OUT] > 0) ||
        (result->err.data == NULL && it->size[ERR] > 0))
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    return PAWL_OK;
}

pawl_code pawl__child_run(const pawl__child *child, pawl_arena *arena, pawl__child_result *result,
                          pawl_error *error)
{
    process   it   = {.pid = 0};
    pawl_code code = run(child, &it, arena, result, error);
    for (int i = 0; i < PIPES; i++) {
        close_end(&it.ours[i]);
        close_end(&it.theirs[i]);
        pawl_free(it.data[i]);
    }
    return code;
}

pawl_text pawl__child_said(const pawl__child_result *result)
{
    static const char mark[] = "pawl: ";
    pawl_text         text   = result->err;
    while (text.size > 0 && text.data[text.size - 1] == '\n')
        text.size--;
    for (size_t i = text.size; i > 0; i--)
        if (text.data[i - 1] == '\n') {
            text = (pawl_text){.data = text.data + i, .size = text.size - i};
            break;
        }
    return pawl__text_begins(text, mark) ? pawl__text_behind(text, mark) : text;
}
