/* input.c - reads a file or standard input, whole or by lines; asks a question; notes signals that end a long verb.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/calm.h"
#include "cli/cli.h"

#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK_SIZE ((size_t)64 * 1024)
#define WAIT_MS 200 /* longest wait for input before signals are checked */

pawl_code pawl__agree(const char *action, const char *done, pawl_error *error, const char *question,
                      ...)
{
    char    answer[16] = "", text[PAWL_URL_SIZE_MAX + PAWL_PARTITION_SIZE_MAX + 500];
    va_list values;
    if (!isatty(STDIN_FILENO))
        return pawl_error_set(error, PAWL_EINVAL,
                              "%s asks first, and standard input is not a terminal: give --yes",
                              action);
    va_start(values, question);
    (void)vsnprintf(text, sizeof text, question, values);
    va_end(values);
    pawl__calm_line(text, strlen(text));
    fprintf(stderr,
            "%s Type yes to do it: ", text); /* in one write: standard error has no buffer */
    if (fgets(answer, sizeof answer, stdin) == NULL || strcmp(answer, "yes\n") != 0)
        return pawl_error_set(error, PAWL_REJECT, "the answer was not yes: nothing was %s", done);
    return PAWL_OK;
}

pawl_text pawl__user(void)
{
    static char          name[PAWL__USER_SIZE];
    const struct passwd *user = getpwuid(getuid());
    if (user != NULL)
        snprintf(name, sizeof name, "%s", user->pw_name);
    else
        snprintf(name, sizeof name, "user %ld", (long)getuid());
    const char *asker = getenv(PAWL__CONSOLE_USER);
    size_t      size  = strlen(name);
    if (asker != NULL && asker[0] != '\0' && size + strlen(asker) + 4 <= sizeof name)
        snprintf(name + size, sizeof name - size, " (%s)", asker);
    return pawl_text_of(name);
}

/* ---- Signals and input --------------------------------------------------- */

static volatile sig_atomic_t is_interrupted;

static void on_signal(int number)
{
    (void)number;
    is_interrupted = 1;
}

void pawl__interrupts_note(int flags)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

bool pawl__is_interrupted(void)
{
    return is_interrupted != 0;
}

pawl_code pawl__input_open(pawl__input *input, const char *path, pawl_error *error)
{
    bool is_standard = strcmp(path, "-") == 0;
    *input           = (pawl__input){.name = is_standard ? "standard input" : path};
    input->file      = is_standard ? stdin : fopen(path, "rb");
    if (input->file == NULL)
        return pawl_error_set(error, PAWL_EINPUT, "cannot read %s: %s", path, strerror(errno));
    struct stat status;
    if (fstat(fileno(input->file), &status) == 0 && S_ISDIR(status.st_mode)) {
        pawl__input_close(input);
        return pawl_error_set(error, PAWL_EINPUT, "cannot read %s: it is a directory", path);
    }
    return PAWL_OK;
}

void pawl__input_close(pawl__input *input)
{
    if (input->file != NULL && input->file != stdin)
        fclose(input->file);
    pawl_free(input->data);
    *input = (pawl__input){.file = NULL};
}

/* The wait is short, since a signal that comes just before it, or to another thread, does not end it. */
static ssize_t read_some(int file, char *data, size_t size)
{
    struct pollfd wait  = {.fd = file, .events = POLLIN};
    int           ready = 0;
    while (ready == 0 || (ready < 0 && errno == EINTR)) {
        if (pawl__is_interrupted()) {
            errno = EINTR;
            return -1;
        }
        ready = poll(&wait, 1, WAIT_MS);
    }
    return ready < 0 ? -1 : read(file, data, size);
}

static bool would_wait(const pawl__input *input)
{
    return poll(&(struct pollfd){.fd = fileno(input->file), .events = POLLIN}, 1, 0) == 0;
}

/* Reads one more chunk behind what is there. */
static pawl_code read_more(pawl__input *input, pawl_error *error)
{
    if (input->capacity - input->size < CHUNK_SIZE) {
        size_t capacity = input->capacity * 2 + CHUNK_SIZE;
        char  *data     = pawl_resize(input->data, capacity);
        if (data == NULL)
            return pawl_error_set(error, PAWL_ENOMEM, "out of memory reading %s", input->name);
        input->data     = data;
        input->capacity = capacity;
    }
    ssize_t count = read_some(fileno(input->file), input->data + input->size, CHUNK_SIZE);
    input->is_end = count == 0;
    input->size += count > 0 ? (size_t)count : 0;
    if (count < 0)
        return pawl_error_set(error, PAWL_EINPUT, "cannot read %s: %s", input->name,
                              strerror(errno));
    return PAWL_OK;
}

static pawl_code refuse_size(const char *what, const pawl__input *input, pawl_error *error)
{
    return pawl_error_set(error, PAWL_ELIMIT, "%s of %s is over %d bytes, the limit", what,
                          input->name, PAWL_BODY_SIZE_MAX);
}

pawl_code pawl__input_all(pawl__input *input, pawl_text *text, pawl_error *error)
{
    while (!input->is_end) {
        pawl_code code = read_more(input, error);
        if (code != PAWL_OK)
            return code;
        if (input->size > PAWL_BODY_SIZE_MAX)
            return refuse_size("a body", input, error);
    }
    *text = (pawl_text){.data = input->data, .size = input->size};
    return PAWL_OK;
}

/* Moves what is left of the last chunk to the front, so that the buffer stays
 * as small as the longest line. */
static void drop_used(pawl__input *input)
{
    if (input->at == 0)
        return;
    memmove(input->data, input->data + input->at, input->size - input->at);
    input->size -= input->at;
    input->at = 0;
}

pawl_code pawl__input_line(pawl__input *input, pawl_text *line, pawl_error *error)
{
    char  *end     = NULL;
    size_t checked = input->at;
    *line          = (pawl_text){0};
    while ((end = input->size > checked ? memchr(input->data + checked, '\n', input->size - checked)
                                        : NULL) == NULL &&
           !input->is_end) {
        if (input->is_now && would_wait(input))
            return PAWL_OK;
        drop_used(input);
        checked        = input->size;
        pawl_code code = checked > PAWL_BODY_SIZE_MAX ? refuse_size("a line", input, error)
                                                      : read_more(input, error);
        if (code != PAWL_OK)
            return code;
    }
    if (input->at == input->size)
        return PAWL_OK;
    char *start = input->data + input->at;
    *line       = (pawl_text){.data = start,
                              .size = end != NULL ? (size_t)(end - start) : input->size - input->at};
    input->at += line->size + (end != NULL);
    input->line++;
    if (line->size > 0 && line->data[line->size - 1] == '\r')
        line->size--;
    return PAWL_OK;
}

pawl_code pawl__body_read(const char *body, const char *file, pawl_arena *arena, pawl_text *text,
                          pawl_error *error)
{
    pawl__input input = {.name = "--body"};
    pawl_code   code  = PAWL_OK;
    *text             = pawl_text_of(body);
    if (file != NULL)
        code = pawl__input_open(&input, file, error);
    if (code == PAWL_OK && file != NULL)
        code = pawl__input_all(&input, text, error);
    if (code == PAWL_OK && (code = pawl__json_check(*text, error)) != PAWL_OK)
        code = pawl_error_wrap(error, code, "%s", input.name);
    if (code == PAWL_OK)
        *text = pawl__must_text(arena, *text);
    pawl__input_close(&input);
    return code;
}

pawl_code pawl__id_make(char text[PAWL_UUID_TEXT_SIZE + 1], pawl_error *error)
{
    uint64_t    seed;
    pawl_random random;
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        return pawl_error_set(error, PAWL_EPERSIST, "no random number for an id: %s",
                              strerror(errno));
    pawl_random_seed(&random, seed);
    pawl_uuid_format(pawl_uuid_v7(&random, pawl_clock_now(NULL)), text);
    return PAWL_OK;
}
