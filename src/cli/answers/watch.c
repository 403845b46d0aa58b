/* watch.c - the loop of `pawl stats --watch`, and the terminal that it draws on.
 *
 *     enter -> { look -> draw -> wait: the period, a key, a new size } -> leave
 *
 * The picture is on the alternate screen of the terminal, so that the earlier lines come back afterwards. The handler
 * of a signal that ends the process restores the terminal first; write and tcsetattr are allowed there. So does
 * Ctrl-Z, and the picture is drawn again when the process goes on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/answers/watch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define LOOK_SHARE 10 /* the pause is at least ten times as long as the look before it */

/* ---- The terminal ---------------------------------------------------------- */

/* Escape sequences of xterm: alternate screen without a cursor; home; erase the rest of a line, of the screen. */
static const char enter_text[] = "\033[?1049h\033[?25l\033[2J";
static const char leave_text[] = "\033[?25h\033[?1049l";

static struct {
    bool                  is_entered;
    bool                  has_keys; /* standard input is a terminal */
    struct termios        before;   /* of standard input */
    volatile sig_atomic_t is_stale; /* size or screen changed: draw again */
} terminal;

static void put(const char *text, size_t size)
{
    while (size > 0) {
        ssize_t written = write(STDOUT_FILENO, text, size);
        if (written < 0 && errno != EINTR)
            return;
        text += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
}

static void enter(void)
{
    struct termios keys = terminal.before;
    keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    if (terminal.has_keys)
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &keys);
    put(enter_text, sizeof enter_text - 1);
    terminal.is_entered = true;
}

static void leave(void)
{
    if (!terminal.is_entered)
        return;
    terminal.is_entered = false;
    put(leave_text, sizeof leave_text - 1);
    if (terminal.has_keys)
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &terminal.before);
}

/* A signal ends watching as a key does, with exit code 0. */
static void on_end(int number)
{
    (void)number;
    leave();
    _exit(0);
}

static void on_size(int number)
{
    (void)number;
    terminal.is_stale = 1;
}

static void on_stop(int number)
{
    int saved = errno;
    (void)number;
    leave();
    (void)raise(SIGSTOP);
    enter();
    terminal.is_stale = 1;
    errno             = saved;
}

static void handle(int number, void (*handler)(int number))
{
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

static void handle_signals(bool is_terminal)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        handle(ends[i], on_end);
    if (is_terminal) {
        handle(SIGWINCH, on_size);
        handle(SIGTSTP, on_stop);
    }
}

static void read_size(pawl__watch_picture *picture)
{
    struct winsize size = {.ws_row = 0};
    picture->columns = 80, picture->lines = 24;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0)
        picture->columns = size.ws_col, picture->lines = size.ws_row;
}

/* ---- Drawing ----------------------------------------------------------------- */

/* Draws over the picture before, line by line, in one write: nothing flickers. */
static pawl_code show(pawl__watch_picture *picture, pawl_error *error)
{
    char  *plain = NULL, *drawn = NULL;
    size_t plain_size = 0, drawn_size = 0;
    read_size(picture);
    FILE *out = open_memstream(&plain, &plain_size);
    if (out != NULL) {
        pawl__watch_draw(picture, out);
        fclose(out);
        out = open_memstream(&drawn, &drawn_size);
    }
    if (out == NULL) {
        free(plain);
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory for the picture");
    }
    fputs("\033[H", out);
    for (size_t at = 0, end; at < plain_size; at = end + 1) {
        end = at + strcspn(plain + at, "\n");
        fprintf(out, "%s%.*s\033[K", at > 0 ? "\r\n" : "", (int)(end - at), plain + at);
    }
    fputs("\033[J", out);
    fclose(out);
    put(drawn, drawn_size);
    free(plain);
    free(drawn);
    return PAWL_OK;
}

/* ---- Waiting ------------------------------------------------------------------- */

typedef enum event { EVENT_DUE, EVENT_SIZE, EVENT_END } event;

/* Reads the keys that were pressed: 'q' ends, any other looks at once. */
static event read_key(void)
{
    char    keys[32];
    ssize_t size = read(STDIN_FILENO, keys, sizeof keys);
    if (size < 0)
        return errno == EINTR ? EVENT_SIZE : EVENT_END;
    return size == 0 || memchr(keys, 'q', (size_t)size) != NULL ? EVENT_END : EVENT_DUE;
}

static event wait_until(int64_t due)
{
    struct pollfd input = {.fd = terminal.has_keys ? STDIN_FILENO : -1, .events = POLLIN};
    for (int64_t left; (left = due - pawl__steady_now()) > 0;) {
        if (terminal.is_stale)
            return EVENT_SIZE;
        if (poll(&input, 1, left < PAWL_SECONDS(1000) ? (int)(left / 1000 + 1) : 1000000) > 0)
            return read_key();
    }
    return EVENT_DUE;
}

/* ---- The loop -------------------------------------------------------------------- */

typedef struct watching {
    const pawl__watch  *watch;
    pawl_store         *store;
    pawl_arena         *arena; /* of the sample */
    pawl__watch_sample  sample;
    pawl__watch_picture picture;
    pawl_error          failure;
    bool                is_terminal;
    int64_t             look_count;
    int64_t             took; /* of the last look */
} watching;

static pawl_code look_for_pauses(pawl_store *store, pawl_arena *arena, pawl__watch_sample *sample,
                                 pawl_error *error)
{
    const pawl_stats *stats = pawl__watch_stats(sample);
    bool             *found = pawl_arena_take(arena, (stats->queue_count + 1) * sizeof *found);
    pawl_code         code  = PAWL_OK;
    if (found == NULL) /* not pawl__must, whose exit would leave the terminal without an echo */
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory for %zu queues",
                              stats->queue_count);
    for (size_t i = 0; code == PAWL_OK && i < stats->queue_count; i++) {
        pawl_queue_pause pause;
        code     = pawl_store_queue_pause_find(store, stats->queues[i].queue, arena, &pause, error);
        found[i] = pause.is_paused;
    }
    sample->paused = found;
    return code;
}

pawl_code pawl__watch_read(pawl_store *store, const pawl_health_options *limits, pawl_arena *arena,
                           pawl__watch_sample *sample, pawl_error *error)
{
    sample->paused  = NULL;
    sample->figures = (pawl_health_figures)PAWL_HEALTH_FIGURES_INIT;
    pawl_code code  = pawl_health_query(store, sample->at, arena, &sample->figures, error);
    if (code == PAWL_OK)
        code = look_for_pauses(store, arena, sample, error);
    if (code == PAWL_OK)
        pawl_health_judge(&sample->figures, limits, sample->at, &sample->health);
    else
        sample->figures = (pawl_health_figures)PAWL_HEALTH_FIGURES_INIT;
    return code;
}

/* Reads a new sample. After a failure it has no figures, since the arena of the last ones was reset. */
static pawl_code take_sample(watching *it, pawl_error *error)
{
    int64_t       begin   = pawl__steady_now();
    pawl_time     before  = it->picture.failure == NULL ? it->sample.at : 0;
    pawl_counters counted = pawl__watch_stats(&it->sample)->counters;
    pawl_arena_reset(it->arena);
    it->sample     = (pawl__watch_sample){.at = pawl_clock_now(NULL)};
    pawl_code code = pawl__watch_read(it->store, &it->watch->limits, it->arena, &it->sample, error);
    it->took       = pawl__steady_now() - begin;
    it->picture.failure         = code != PAWL_OK ? error->text : NULL;
    it->picture.before          = before;
    it->picture.counters_before = counted;
    return code;
}

/* Shows the last sample. False: the output cannot be written; main reports that. */
static bool print(watching *it, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    if (it->is_terminal)
        return show(&it->picture, error) == PAWL_OK;
    if (it->watch->print == NULL && (it->look_count - 1) % PAWL__WATCH_HEADING_EVERY == 0)
        pawl__watch_heading(stdout);
    if (it->picture.failure != NULL)
        pawl__say(stderr, "no answer: %s", it->picture.failure);
    else if (it->watch->print != NULL)
        code = it->watch->print(&it->sample, stdout);
    else
        pawl__watch_line(&it->picture, stdout);
    return code == PAWL_OK && fflush(stdout) == 0;
}

/* Waits for the next look; draws again if the size of the terminal changes. False: watching ends. */
static bool wait_for_look(watching *it, pawl_error *error)
{
    int64_t pause = it->took * LOOK_SHARE;
    int64_t due   = pawl__steady_now() + (pause > it->watch->period ? pause : it->watch->period);
    if (it->watch->count > 0 && it->look_count >= it->watch->count)
        return false;
    for (;;) {
        event what = wait_until(due);
        if (what != EVENT_SIZE)
            return what == EVENT_DUE;
        terminal.is_stale = 0;
        if (it->is_terminal && show(&it->picture, error) != PAWL_OK)
            return false;
    }
}

static void watch_all(watching *it, pawl_error *error)
{
    do {
        it->failure = (pawl_error)PAWL_ERROR_INIT;
        if (it->look_count++ > 0)
            (void)take_sample(it, &it->failure); /* a failure is in the picture */
    } while (print(it, error) && wait_for_look(it, error));
}

pawl_code pawl__watch_run(const pawl__watch *watch, pawl_store *store, pawl_arena *arena,
                          pawl_error *error)
{
    char     masked[PAWL_URL_SIZE_MAX + 1];
    watching it = {.watch = watch, .store = store, .arena = arena, .failure = PAWL_ERROR_INIT};
    it.picture  = (pawl__watch_picture){.store  = pawl__masked(watch->store, masked, sizeof masked),
                                        .sample = &it.sample,
                                        .period = watch->period};
    it.is_terminal = watch->print == NULL && isatty(STDOUT_FILENO) == 1;
    pawl_code code = take_sample(&it, error); /* before the screen is taken: a failure is a line */
    if (code != PAWL_OK)
        return code;
    terminal.has_keys = it.is_terminal && tcgetattr(STDIN_FILENO, &terminal.before) == 0;
    if (it.is_terminal)
        enter();
    handle_signals(it.is_terminal);
    watch_all(&it, error);
    leave();
    return error->code;
}
