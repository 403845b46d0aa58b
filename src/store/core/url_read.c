/* url_read.c - parses URLs, in place in a copy; see url_read.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/url_read.h"

#include "pawl/store.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIVEN_SIZE_MAX 240 /* of a URL in an error text: leaves room for the rest of the text */
#define HOST_SIZE_MAX 255
#define NAME_SIZE_MAX 20 /* of an option, with a comma */
#define PORT_MAX 65535
#define CHARACTERS_OF_NAMES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

/* ---- Percent-decoding ---------------------------------------------------- */

int pawl__url_hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Decodes "caf%C3%A9" in place. False: a '%' without two hex digits, or a NUL. */
static bool decode(char *text)
{
    char *to = text;
    while (*text != '\0') {
        char c = *text++;
        if (c == '%') {
            int high = pawl__url_hex_digit(text[0]);
            int low  = high >= 0 ? pawl__url_hex_digit(text[1]) : -1;
            if (low < 0 || high + low == 0)
                return false;
            c = (char)(high * 16 + low);
            text += 2;
        }
        *to++ = c;
    }
    *to = '\0';
    return true;
}

/* Cuts a text at a character; returns the text behind that, or NULL. */
static char *cut(char *text, char at)
{
    char *sign = strchr(text, at);
    if (sign != NULL)
        *sign++ = '\0';
    return sign;
}

/* ---- Options -------------------------------------------------------------- */

/* The results: the parts that every driver has, and the driver's settings. */
typedef struct reader {
    const pawl__url_kind *kind;
    const char           *given; /* NULL: no password can be in it */
    void                 *settings;
    pawl_error           *error;
} reader;

static pawl_code refuse(const reader *r, const char *why)
{
    return pawl_error_set(r->error, PAWL_EINVAL, "%s: %s: %s", r->kind->driver, r->given, why);
}

static bool read_number(const pawl__url_option *option, const char *value, int *number)
{
    char *end   = NULL;
    errno       = 0;
    long result = strtol(value, &end, 10);
    *number     = (int)result;
    return errno == 0 && end != value && *end == '\0' && result >= option->min &&
           result <= option->max;
}

static bool read_word(const pawl__url_option *option, const char *value, int *index)
{
    *index = 0;
    while (option->words[*index] != NULL && strcmp(option->words[*index], value) != 0)
        ++*index;
    return option->words[*index] != NULL;
}

static bool is_allowed(const pawl__url_option *option, const char *value, int *number)
{
    switch (option->form) {
    case PAWL__URL_FILLED: return value[0] != '\0';
    case PAWL__URL_PATH: return value[0] == '/';
    case PAWL__URL_NUMBER: return read_number(option, value, number);
    case PAWL__URL_WORD: return read_word(option, value, number);
    case PAWL__URL_TEXT: break;
    }
    return true;
}

static pawl_code set(const reader *r, const pawl__url_option *option, const char *value)
{
    int   number = 0;
    void *member = (char *)r->settings + option->offset;
    if (!is_allowed(option, value, &number))
        return pawl_error_set(r->error, PAWL_ECONFIG, "%s: %s is '%s', may be %s", r->kind->driver,
                              option->name, value, option->allowed);
    if (option->form == PAWL__URL_NUMBER || option->form == PAWL__URL_WORD)
        *(int *)member = number;
    else
        *(const char **)member = value;
    return PAWL_OK;
}

static bool is_name(const char *given, const char *name)
{
    while (*name != '\0' &&
           (*given == *name || (*given == '_' && *name == '-') || (*given == '-' && *name == '_')))
        given++, name++;
    return *given == '\0' && *name == '\0';
}

/* Does not show an unknown name: with an unescaped '?' in a password the rest of it looks like an option. */
static pawl_code refuse_option(const reader *r, const char *name)
{
    char   names[PAWL__URL_OPTIONS_MAX * NAME_SIZE_MAX];
    size_t used = 0;
    if (r->given != NULL && name[strspn(name, CHARACTERS_OF_NAMES)] != '\0')
        return refuse(r, "an option's name has a character that no option has; '?' in a password "
                         "must be written as %3F");
    assert(r->kind->option_count <= PAWL__URL_OPTIONS_MAX);
    for (size_t i = 0; i < r->kind->option_count; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                                 r->kind->options[i].name);
    return pawl_error_set(r->error, PAWL_ECONFIG, "%s: unknown option '%s', known: %s",
                          r->kind->driver, name, names);
}

static pawl_code read_option(const reader *r, char *pair)
{
    char *value = cut(pair, '=');
    for (size_t i = 0; i < r->kind->option_count; i++) {
        const pawl__url_option *option = &r->kind->options[i];
        if (!is_name(pair, option->name))
            continue;
        if (value == NULL || !decode(value))
            return pawl_error_set(r->error, PAWL_ECONFIG,
                                  "%s: option '%s' has no value that can be read", r->kind->driver,
                                  option->name);
        return set(r, option, value);
    }
    return refuse_option(r, pair);
}

pawl_code pawl__url_options(const pawl__url_kind *kind, const char *given, char *text,
                            void *settings, pawl_error *error)
{
    const reader r    = {kind, given, settings, error};
    pawl_code    code = PAWL_OK;
    while (code == PAWL_OK && text != NULL) {
        char *next = cut(text, '&');
        if (text[0] != '\0')
            code = read_option(&r, text);
        text = next;
    }
    return code;
}

/* ---- What stands before them ---------------------------------------------- */

static bool read_user(pawl__url *parts, char *user)
{
    char *password  = cut(user, ':');
    parts->user     = user[0] != '\0' ? user : NULL;
    parts->password = password;
    return decode(user) && (password == NULL || decode(password));
}

static bool read_port(const char *text, unsigned *port)
{
    char *end   = NULL;
    long  value = text != NULL ? strtol(text, &end, 10) : 0;
    if (text == NULL)
        return true;
    *port = (unsigned)value;
    return end != text && *end == '\0' && strspn(text, "0123456789") > 0 && value >= 1 &&
           value <= PORT_MAX;
}

/* "host", "host:3307", "[::1]:3307". */
static bool read_host(pawl__url_host *host, char *text)
{
    bool  is_v6 = text[0] == '[';
    char *end   = is_v6 ? cut(++text, ']') : text;
    if (end == NULL || (is_v6 && *end != '\0' && *end != ':'))
        return false;
    char *port = cut(end, ':');
    host->name = text;
    return decode(text) && strlen(text) <= HOST_SIZE_MAX && strpbrk(text, "[]/ ") == NULL &&
           read_port(port, &host->port);
}

static pawl_code read_hosts(const reader *r, pawl__url *parts, char *text)
{
    while (text != NULL) {
        char *next = cut(text, ',');
        if (parts->host_count == PAWL__URL_HOSTS_MAX)
            return refuse(r, "more than 16 hosts");
        pawl__url_host *host = &parts->hosts[parts->host_count++];
        host->port           = r->kind->port;
        if (!read_host(host, text))
            return refuse(r, "a host or its port cannot be read (a port is 1 to 65535); '/', '?', "
                             "'#' and '@' in a password must be written as %2F, %3F, %23 and %40");
        text = next;
    }
    return PAWL_OK;
}

static pawl_code read_database(const reader *r, pawl__url *parts, char *text)
{
    const pawl__url_kind *kind = r->kind;
    const char           *word = kind->database_word != NULL ? kind->database_word : "database";
    char                  why[160];
    parts->database = text != NULL && text[0] != '\0' ? text : kind->database_default;
    (void)snprintf(why, sizeof why, "no %s is named: %.*shost/%s", word,
                   (int)strcspn(kind->schemes, " "), kind->schemes, word);
    if (parts->database == NULL)
        return refuse(r, why);
    if (parts->database != text)
        return PAWL_OK;
    (void)snprintf(why, sizeof why,
                   "the %s's name holds '/' or '@': in it, and in a password, they must be written "
                   "as %%2F and %%40",
                   word);
    if (strpbrk(text, "/@") != NULL)
        return refuse(r, why);
    (void)snprintf(why, sizeof why, "the %s's name cannot be read (%zu characters at most)", word,
                   kind->database_chars_max);
    return decode(text) && strlen(text) <= kind->database_chars_max * 4 ? PAWL_OK : refuse(r, why);
}

static pawl_code read_parts(const reader *r, pawl__url *parts)
{
    char  why[100];
    char *text = strstr(parts->text, "://");
    (void)snprintf(why, sizeof why, "the URL does not begin with %s", r->kind->schemes);
    if (text == NULL)
        return refuse(r, why);
    char *options  = cut(text += 3, '?');
    char *database = cut(text, '/');
    char *at       = strrchr(text, '@');
    char *user     = at != NULL ? text : NULL;
    if (at != NULL)
        *at++ = '\0';
    if (user != NULL && (strchr(user, '@') != NULL || !read_user(parts, user)))
        return refuse(r, "the user or the password cannot be read: '%', '/', '?' and '@' in them "
                         "must be written as %25, %2F, %3F and %40");
    pawl_code code = read_hosts(r, parts, at != NULL ? at : text);
    if (code == PAWL_OK)
        code = read_database(r, parts, database);
    return code == PAWL_OK ? pawl__url_options(r->kind, r->given, options, r->settings, r->error)
                           : code;
}

/* ---- The whole ------------------------------------------------------------- */

char *pawl__url_given(const char *url)
{
    pawl_arena *arena  = pawl_arena_create(1024);
    pawl_text   masked = arena != NULL ? pawl_url_masked(url, arena) : (pawl_text){0};
    bool        is_cut = masked.size > GIVEN_SIZE_MAX;
    char       *given  = masked.data != NULL ? pawl_allocate(GIVEN_SIZE_MAX + 1) : NULL;
    if (given != NULL)
        (void)snprintf(given, GIVEN_SIZE_MAX + 1, is_cut ? "%.*s..." : "%.*s",
                       is_cut ? GIVEN_SIZE_MAX - 3 : (int)masked.size, masked.data);
    pawl_arena_destroy(arena);
    return given;
}

pawl_code pawl__url_refuse(const pawl__url_kind *kind, const pawl__url *parts, const char *why,
                           pawl_error *error)
{
    return refuse(&(reader){kind, parts->given, NULL, error}, why);
}

pawl_code pawl__url_read(const pawl__url_kind *kind, const char *url, pawl__url *parts,
                         void *settings, pawl_error *error)
{
    size_t size = strlen(url) + 1;
    *parts      = (pawl__url){.text = pawl_allocate(size), .given = pawl__url_given(url)};
    if (parts->text == NULL || parts->given == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "%s: out of memory for the URL", kind->driver);
    memcpy(parts->text, url, size);
    return read_parts(&(reader){kind, parts->given, settings, error}, parts);
}

void pawl__url_free(pawl__url *parts)
{
    pawl_free(parts->text);
    pawl_free(parts->given);
    *parts = (pawl__url){0};
}
