/* completion.c - `pawl completion`: words that a shell offers at the tab key.
 *
 * The scripts are a few lines each. They ask the command which words may stand at the cursor
 * (`pawl completion words -- WORD ...`), so that they need no change when a verb gets an option. No
 * application is loaded and no store is opened for it.
 *
 * Tests: tests/system/command_completion.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/cli.h"

#include <string.h>

typedef struct verb_fields {
    const char *action;
    pawl__texts words;
} verb_fields;

#define SHELLS(X)                                                                          \
    X(BASH, "bash", "", "in ~/.bashrc: source <(pawl completion bash)", NULL)              \
    X(FISH, "fish", "", "into ~/.config/fish/completions/pawl.fish", NULL)                 \
    X(WORDS, "words", "[-- WORD ...]", "what may stand next: the scripts call this", NULL) \
    X(ZSH, "zsh", "", "into a file _pawl of a folder of $fpath", NULL)
PAWL__ACTIONS(SHELLS)

const pawl__argument pawl__completion_verb_arguments[] = {
    PAWL__ARGUMENT(verb_fields, "SHELL", action, NULL, .choices = action_names,
                   .lines = action_lines),
    PAWL__ARGUMENT(verb_fields, "-- WORD", words, "of words: those of the line that is typed",
                   .is_optional = true, .is_list = true, .is_open = true),
    {.name = NULL},
};
const pawl__option pawl__completion_verb_options[] = {{.name = NULL}};
const pawl__report pawl__completion_verb_reports[] = {{.what = NULL}};

/* ---- Scripts --------------------------------------------------------------- */

/* Readline breaks words at ":" and "=": the script joins the parts for the question, and cuts the part
 * before the last break off the answers. The answer "/" asks for the name of a file. */
static const char bash_script[] =
    "# bash completion of pawl, by `pawl completion bash`\n"
    "_pawl()\n"
    "{\n"
    "    local line word cursor=${COMP_WORDS[COMP_CWORD]} head='' i\n"
    "    local -a words=()\n"
    "    for ((i = 1; i <= COMP_CWORD; i++)); do\n"
    "        word=${COMP_WORDS[i]}\n"
    "        if ((i > 1)) && [[ $word == [:=]* || ${COMP_WORDS[i - 1]} == *[:=] ]]; then\n"
    "            words[${#words[@]} - 1]+=$word\n"
    "        else\n"
    "            words+=(\"$word\")\n"
    "        fi\n"
    "    done\n"
    "    word=${words[${#words[@]} - 1]}\n"
    "    [[ $cursor == [:=] ]] && head=$word || head=${word%\"$cursor\"}\n"
    "    COMPREPLY=()\n"
    "    while IFS= read -r line; do\n"
    "        if [[ $line == / ]]; then\n"
    "            compopt -o default 2>/dev/null\n"
    "        else\n"
    "            line=${line%%$'\\t'*}\n"
    "            COMPREPLY+=(\"${line#\"$head\"}\")\n"
    "        fi\n"
    "    done < <(\"${COMP_WORDS[0]}\" completion words -- \"${words[@]}\" 2>/dev/null)\n"
    "}\n"
    "complete -F _pawl pawl\n";

static const char zsh_script[] =
    "#compdef pawl\n"
    "# zsh completion of pawl, by `pawl completion zsh`\n"
    "_pawl()\n"
    "{\n"
    "    local line\n"
    "    local -a found\n"
    "    for line in \"${(@f)$(\"${words[1]}\" completion words -- \"${(@Q)words[2,CURRENT]}\" "
    "2>/dev/null)}\"; do\n"
    "        if [[ $line == / ]]; then\n"
    "            _files\n"
    "            return\n"
    "        fi\n"
    "        [[ -n $line ]] && found+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\")\n"
    "    done\n"
    "    (($#found)) && _describe pawl found\n"
    "}\n"
    "if [[ $funcstack[1] == _pawl ]]; then\n"
    "    _pawl \"$@\"\n"
    "else\n"
    "    compdef _pawl pawl\n"
    "fi\n";

static const char fish_script[] =
    "# fish completion of pawl, by `pawl completion fish`\n"
    "function __pawl_words\n"
    "    set -l words (commandline -opc) (commandline -ct)\n"
    "    for line in ($words[1] completion words -- $words[2..-1] 2>/dev/null)\n"
    "        if test \"$line\" = /\n"
    "            __fish_complete_path (commandline -ct)\n"
    "        else\n"
    "            echo $line\n"
    "        end\n"
    "    end\n"
    "end\n"
    "complete -c pawl -f -a '(__pawl_words)'\n";

/* ---- What may stand at the last word ------------------------------------------ */

/* The state behind the words before the cursor: it decides which words may follow. */
typedef struct place {
    const pawl__verb     *verb;
    const pawl__option   *option;    /* waits for its value; NULL: none */
    const pawl__argument *argument;  /* the next one; its name is NULL behind the last */
    unsigned              action;    /* a bit for the choice at the first argument; 0: none yet */
    uint64_t              seen;      /* a bit for each option */
    bool                  is_driver; /* --load waits for its path */
    bool                  is_wrong;  /* nothing fits behind these words */
    bool                  is_plain;  /* "--" was read: no options any more */
} place;

static void offer(const char *head, const char *word, const char *about, const char *typed)
{
    char text[2 * PAWL__WORD_SIZE];
    snprintf(text, sizeof text, "%s%s", head, word);
    if (strncmp(text, typed, strlen(typed)) == 0)
        printf("%s\t%s\n", text, about);
}

/* Is the placeholder of a value one for a path? */
static bool is_path(const char *word)
{
    size_t size = word != NULL ? strlen(word) : 0;
    return size > 3 && (strcmp(word, "FILE") == 0 || strcmp(word, "FOLDER") == 0 ||
                        strcmp(word + size - 3, ".so") == 0);
}

/* Offers choices. A set ("a,b") is completed behind its last comma, with choices that it does not have yet. */
static void offer_choices(const char *const *choices, const pawl__choice_line *lines, bool is_set,
                          const char *head, const char *typed)
{
    char        part[PAWL__WORD_SIZE] = "";
    const char *comma                 = is_set ? strrchr(typed, ',') : NULL;
    size_t      size                  = comma != NULL ? (size_t)(comma + 1 - typed) : strlen(head);
    if (size >= sizeof part)
        return;
    memcpy(part, comma != NULL ? typed : head, size);
    unsigned before = 0;
    if (comma != NULL)
        before = pawl__choices_of(choices, part + strlen(head));
    for (size_t i = 0; choices[i] != NULL; i++)
        if ((before & 1U << i) == 0)
            offer(part, choices[i], lines != NULL ? lines[i].help : "", typed);
}

/* `head` is "--name=", or empty where the value is a word of its own. */
static void offer_value(const pawl__option *option, const char *head, const char *typed)
{
    static const char *const yes_no[] = {"no", "yes", NULL};
    if (option->choices != NULL)
        offer_choices(option->choices, NULL, option->is_set, head, typed);
    else if (option->kind == PAWL__OPTION_YES_NO)
        offer_choices(yes_no, NULL, false, head, typed);
    else if (is_path(option->value))
        puts("/");
}

static bool fits(const place *at, const pawl__option *option)
{
    uint64_t bit = UINT64_C(1) << (option - at->verb->options);
    if ((at->seen & bit) != 0 && option->kind != PAWL__OPTION_LIST)
        return false;
    return option->actions == 0 || at->action == 0 || (option->actions & at->action) != 0;
}

static void offer_options(const place *at, const char *typed)
{
    const pawl__option *sorted[PAWL__OPTIONS_MAX];
    size_t              count = pawl__options_sorted(at->verb->options, sorted);
    for (size_t i = 0; i < count; i++)
        if (fits(at, sorted[i]))
            offer("--", sorted[i]->name, sorted[i]->help, typed);
    if (typed[0] != '\0')
        offer("--", "help", "say what the verb can do", typed);
}

static void offer_verbs(const char *typed)
{
    size_t            count;
    const pawl__verb *verbs = pawl__verbs(&count);
    for (size_t i = 0; i < count; i++)
        offer("", verbs[i].name, verbs[i].help, typed);
}

/* False: the command does not know the valid words, such as ids of rows. */
static bool offer_argument(const place *at, const char *typed)
{
    const pawl__argument *argument = at->argument;
    if (argument->name == NULL)
        return false;
    if (argument->choices != NULL)
        offer_choices(argument->choices, argument->lines, false, "", typed);
    else if (strcmp(argument->name, "VERB") == 0)
        offer_verbs(typed);
    else if (is_path(argument->name))
        puts("/");
    else
        return false;
    return true;
}

static const pawl__option *option_of(const place *at, const char *word)
{
    return pawl__option_find(at->verb->options, word, strcspn(word, "="));
}

static void read_option(place *at, const char *word)
{
    const pawl__option *option = option_of(at, word);
    if (option == NULL) {
        at->is_wrong = true;
        return;
    }
    at->seen |= UINT64_C(1) << (option - at->verb->options);
    if (option->kind != PAWL__OPTION_FLAG && strchr(word, '=') == NULL)
        at->option = option;
}

static void read_argument(place *at, const char *word)
{
    const pawl__argument *argument = at->argument;
    if (argument->name == NULL) {
        at->is_wrong = true;
        return;
    }
    if (argument->choices != NULL) {
        size_t i = pawl__choice_of(argument->choices, pawl_text_of(word));
        at->is_wrong |= argument->choices[i] == NULL;
        if (argument == at->verb->arguments)
            at->action = 1U << i;
    }
    if (!argument->is_list)
        at->argument++;
}

static void read_verb(place *at, const char *word)
{
    at->is_driver = strcmp(word, "--load") == 0;
    if (at->is_driver)
        return;
    at->verb = pawl__verb_find(word);
    if (at->verb == NULL)
        at->is_wrong = true;
    else
        at->argument = at->verb->arguments;
}

static void read_word(place *at, const char *word)
{
    if (at->is_driver)
        at->is_driver = false;
    else if (at->verb == NULL)
        read_verb(at, word);
    else if (at->option != NULL)
        at->option = NULL;
    else if (!at->is_plain && strcmp(word, "--") == 0)
        at->is_plain = true;
    else if (!at->is_plain && strncmp(word, "--", 2) == 0)
        read_option(at, word + 2);
    else
        read_argument(at, word);
}

/* Offers a value behind "=", options, or arguments; options also if no valid arguments are known. */
static void offer_word(const place *at, const char *typed)
{
    const char *equals = strncmp(typed, "--", 2) == 0 ? strchr(typed, '=') : NULL;
    char        head[PAWL__WORD_SIZE];
    if (!at->is_plain && equals != NULL) {
        const pawl__option *option = option_of(at, typed + 2);
        snprintf(head, sizeof head, "%.*s", (int)(equals + 1 - typed), typed);
        if (option != NULL && fits(at, option))
            offer_value(option, head, typed);
        return;
    }
    bool is_option = typed[0] == '-' || !offer_argument(at, typed);
    if (is_option && !at->is_plain)
        offer_options(at, typed);
}

static void offer_all(const pawl__texts *words)
{
    place       at    = {.verb = NULL};
    const char *typed = words->count > 0 ? words->items[words->count - 1] : "";
    for (size_t i = 0; i + 1 < words->count && !at.is_wrong; i++)
        read_word(&at, words->items[i]);
    if (at.is_wrong)
        return;
    if (at.is_driver) {
        puts("/");
    } else if (at.verb == NULL) {
        offer_verbs(typed);
        if (typed[0] == '-')
            offer("", "--load",
                  "a store driver or an outbound transport of your own, before the verb", typed);
    } else if (at.option != NULL) {
        offer_value(at.option, "", typed);
    } else {
        offer_word(&at, typed);
    }
}

/* ---- The verb ------------------------------------------------------------------ */

int pawl__completion_verb(const pawl__verb *verb, int count, char **words)
{
    verb_fields fields = {.action = NULL};
    pawl_error  error  = PAWL_ERROR_INIT;
    pawl_code   code   = pawl__verb_parse(verb, count, words, &fields, &error);
    if (code != PAWL_OK)
        return pawl__fail(code, &error);
    if (strcmp(fields.action, "words") == 0)
        offer_all(&fields.words);
    else
        fputs(strcmp(fields.action, "bash") == 0  ? bash_script
              : strcmp(fields.action, "zsh") == 0 ? zsh_script
                                                  : fish_script,
              stdout);
    return 0;
}
