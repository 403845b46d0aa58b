/* main.c - the command: finds the verb in the table of cli.h, and runs it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/base/child.h"
#include "cli/cli.h"

#include "base/object.h"
#include "pawl/inbound.h"
#include "pawl/transport.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define ROW(name, help)             \
    {#name,                         \
     help,                          \
     pawl__##name##_verb_arguments, \
     pawl__##name##_verb_options,   \
     pawl__##name##_verb,           \
     pawl__##name##_verb_reports},
static const pawl__verb verbs[] = {PAWL__VERBS(ROW)};
#define VERB_COUNT (sizeof verbs / sizeof verbs[0])

const pawl__verb *pawl__verbs(size_t *count)
{
    *count = VERB_COUNT;
    return verbs;
}

pawl_code pawl__verb_parse(const pawl__verb *verb, int count, char **words, void *fields,
                           pawl_error *error)
{
    return pawl__options_parse(verb->name, verb->arguments, verb->options, count, words, fields,
                               error);
}

const pawl__verb *pawl__verb_find(const char *name)
{
    for (size_t i = 0; i < VERB_COUNT; i++)
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    return NULL;
}

pawl_code pawl__verb_refuse(const char *name, pawl_error *error)
{
    const char *names[VERB_COUNT + 1] = {NULL};
    char        suggestion[300], shown[PAWL__WORD_SIZE];
    for (size_t i = 0; i < VERB_COUNT; i++)
        names[i] = verbs[i].name;
    pawl__suggest(name != NULL ? name : "", "", names, suggestion, sizeof suggestion);
    if (name == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "give a verb%s", suggestion);
    return pawl_error_set(error, PAWL_EINVAL, "there is no verb '%s'%s", pawl__shown(name, shown),
                          suggestion);
}

static const char *volatile interrupt_text = "what was committed stays";

void pawl__interrupt_says(const char *text)
{
    interrupt_text = text != NULL ? text : "nothing was written";
}

static void say(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

/* An interrupted verb exits 5: its commits stay, and the work after them
 * leaves no trace. `run` stops gracefully instead (run.c). */
static void on_interrupt(int number)
{
    (void)number;
    say("pawl: interrupted; ");
    say(interrupt_text);
    say("\n");
    _exit(pawl_code_exit(PAWL_EINTERRUPTED));
}

static void handle_interrupts(void)
{
    struct sigaction action = {.sa_handler = on_interrupt};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* A file or socket that is opened later would get the number of a closed standard stream, and receive its output. So
 * closed numbers are filled: 0 with a file that cannot be read, 1 and 2 with one that cannot be written. */
static void fill_closed_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* Ignores "--help" where it is the value of an option. `*action`: the first word that is no option, or NULL. */
static bool asks_for_help(const pawl__verb *verb, int count, char **words, const char **action)
{
    bool asks = false;
    *action   = NULL;
    for (int i = 0; i < count && strcmp(words[i], "--") != 0; i++) {
        const pawl__option *option = NULL;
        if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0)
            asks = true;
        else if (strncmp(words[i], "--", 2) == 0)
            option = pawl__option_find(verb->options, words[i] + 2, strlen(words[i] + 2));
        else if (*action == NULL)
            *action = words[i];
        i += option != NULL && option->kind != PAWL__OPTION_FLAG;
    }
    return asks;
}

/* Takes `pawl --help` and `pawl --version`, which people try first, as verbs. */
static const char *verb_name(const char *word)
{
    if (word == NULL)
        return NULL;
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return "help";
    return strcmp(word, "--version") == 0 ? "version" : word;
}

/* An answer that could not be written is a failure. */
static int finish(int exit_code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return exit_code;
    pawl_error error = PAWL_ERROR_INIT;
    pawl_error_set(&error, PAWL_EFULL, "cannot write to standard output");
    return exit_code != 0 ? exit_code : pawl__fail(PAWL_EFULL, &error);
}

/* Symbols that a module of --load may export, and how each is loaded. */
static const struct {
    const char *symbol;
    pawl_code (*load)(const char *path, pawl_error *error);
} tables[] = {{PAWL_STORE_DRIVER_SYMBOL, pawl_store_load},
              {PAWL_TRANSPORT_DRIVER_SYMBOL, pawl_transport_load},
              {PAWL_INBOUND_DRIVER_SYMBOL, pawl_inbound_load}};

/* Loads each of them that the module exports. */
static pawl_code load_module(const char *path, pawl_error *error)
{
    char      here[PAWL__OBJECT_PATH_SIZE];
    void     *module = NULL;
    bool      is_any = false;
    pawl_code code   = pawl__object_path(path, "driver", here, error);
    if (code == PAWL_OK)
        code = pawl__object_open(here, &module, error);
    for (size_t i = 0; code == PAWL_OK && i < sizeof tables / sizeof tables[0]; i++) {
        if (dlsym(module, tables[i].symbol) == NULL)
            continue;
        is_any = true;
        code   = tables[i].load(here, error);
    }
    if (code == PAWL_OK && !is_any)
        code = pawl_error_set(error, PAWL_ECONFIG, "%s has no symbol %s, %s or %s", here,
                              tables[0].symbol, tables[1].symbol, tables[2].symbol);
    if (module != NULL)
        dlclose(module);
    return code;
}

/* `pawl --load ./driver.so ... VERB`: loads drivers before the verb runs, so that it
 * knows their URL schemes. `*taken`: how many words that were. */
static pawl_code load_drivers(int argc, char **argv, int *taken, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (*taken = 0;
         code == PAWL_OK && *taken + 1 < argc && strcmp(argv[*taken + 1], "--load") == 0;
         *taken += 2) {
        if (*taken + 2 >= argc)
            return pawl_error_set(error, PAWL_EINVAL, "--load needs the path of a driver");
        code = load_module(argv[*taken + 2], error);
    }
    return code;
}

int main(int argc, char **argv)
{
    pawl_error error = PAWL_ERROR_INIT;
    int        taken = 0;
    fill_closed_streams();
    pawl__child_begin();
    pawl_code code = load_drivers(argc, argv, &taken, &error);
    if (code != PAWL_OK)
        return pawl__fail(code, &error);
    pawl__child_loads(argv + 1, (size_t)taken);
    argc -= taken;
    argv += taken;
    const char       *name = verb_name(argc > 1 ? argv[1] : NULL);
    const pawl__verb *verb = name != NULL ? pawl__verb_find(name) : NULL;
    if (verb == NULL)
        return pawl__fail(pawl__verb_refuse(name, &error), &error);
    const char *action;
    if (asks_for_help(verb, argc - 2, argv + 2, &action)) {
        pawl__help_print(verb, action, stdout);
        return finish(0);
    }
    handle_interrupts();
    return finish(verb->run(verb, argc - 2, argv + 2));
}
