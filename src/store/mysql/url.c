/* url.c - takes a URL apart, in a copy of it. No piece in front of the options is quoted in an error:
 * it may be a part of a password with an unescaped '/', '?' or '@'.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mysql/url.h"

#include "pawl/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DATABASE_CHARS_MAX 64
#define PORT_DEFAULT 3306
#define PORT_MAX 65535
#define CONNECT_TIMEOUT_S_MAX 3600
#define CONNECT_TIMEOUT_S_OF_SEVERAL 10 /* of each of several hosts: the next one has its turn */
#define GIVEN_SIZE_MAX 240 /* of a URL in an error text, which has to hold more than the URL */
#define HOST_SIZE_MAX 255

static pawl_code refuse(const pawl__mysql_url *parts, const char *why, pawl_error *error)
{
    return pawl_error_set(error, PAWL_EINVAL, "mysql: %s: %s", parts->given, why);
}

/* ---- Percent-decoding ---------------------------------------------------- */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* In place, "caf%C3%A9". False: a '%' without two digits, or a NUL. */
static bool decode(char *text)
{
    char *to = text;
    while (*text != '\0') {
        char c = *text++;
        if (c == '%') {
            int high = hex_digit(text[0]);
            int low  = high >= 0 ? hex_digit(text[1]) : -1;
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

/* Cuts a text at a character; what stands behind that, or NULL. */
static char *cut(char *text, char at)
{
    char *sign = strchr(text, at);
    if (sign != NULL)
        *sign++ = '\0';
    return sign;
}

/* ---- Options -------------------------------------------------------------- */

typedef struct known known;
struct known {
    const char *name; /* '-' stands for '_', too */
    pawl_code (*set)(pawl__mysql_url *parts, const known *option, const char *value,
                     pawl_error *error);
    enum mysql_option passed;
};

static pawl_code bad_value(const known *option, const char *value, const char *allowed,
                           pawl_error *error)
{
    return pawl_error_set(error, PAWL_ECONFIG, "mysql: %s is '%s', may be %s", option->name, value,
                          allowed);
}

static pawl_code set_pooler(pawl__mysql_url *parts, const known *option, const char *value,
                            pawl_error *error)
{
    parts->is_pooled = strcmp(value, "transaction") == 0;
    if (parts->is_pooled || strcmp(value, "none") == 0)
        return PAWL_OK;
    return bad_value(option, value, "none or transaction", error);
}

static pawl_code set_create(pawl__mysql_url *parts, const known *option, const char *value,
                            pawl_error *error)
{
    (void)parts;
    if (strcmp(value, "no") == 0)
        return PAWL_OK;
    return bad_value(option, value, "no: a server's tables are made by 'pawl schema apply'", error);
}

static pawl_code set_connect_timeout(pawl__mysql_url *parts, const known *option, const char *value,
                                     pawl_error *error)
{
    char *end     = NULL;
    long  seconds = strtol(value, &end, 10);
    if (end == value || *end != '\0' || seconds < 1 || seconds > CONNECT_TIMEOUT_S_MAX)
        return bad_value(option, value, "1 to 3600 seconds", error);
    parts->connect_timeout_s = (unsigned)seconds;
    return PAWL_OK;
}

static pawl_code set_tls(pawl__mysql_url *parts, const known *option, const char *value,
                         pawl_error *error)
{
    static const char *const modes[] = {"preferred", "disabled", "required", "verify-identity"};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(value, modes[i]) == 0) {
            parts->tls     = (pawl__mysql_tls)i;
            parts->has_tls = true;
            return PAWL_OK;
        }
    return bad_value(option, value,
                     "disabled, preferred, required or verify-identity, which checks the "
                     "authority and the host's name",
                     error);
}

static pawl_code set_socket(pawl__mysql_url *parts, const known *option, const char *value,
                            pawl_error *error)
{
    if (value[0] != '/')
        return bad_value(option, value, "the path of a socket, from '/' on", error);
    parts->socket = value;
    return PAWL_OK;
}

static pawl_code set_application_name(pawl__mysql_url *parts, const known *option,
                                      const char *value, pawl_error *error)
{
    (void)option;
    (void)error;
    parts->application_name = value;
    return PAWL_OK;
}

static pawl_code pass(pawl__mysql_url *parts, const known *option, const char *value,
                      pawl_error *error)
{
    size_t i = 0;
    if (value[0] == '\0')
        return bad_value(option, value, "anything but empty", error);
    while (i < parts->passed_count && parts->passed[i].option != option->passed)
        i++;
    parts->passed[i] = (pawl__mysql_passed){option->passed, value};
    parts->passed_count += i == parts->passed_count;
    return PAWL_OK;
}

static const known options[] = {
    {"application_name", set_application_name, 0},
    {"connect_timeout", set_connect_timeout, 0},
    {"create", set_create, 0},
    {"defaults-file", pass, MYSQL_READ_DEFAULT_FILE},
    {"pooler", set_pooler, 0},
    {"socket", set_socket, 0},
    {"ssl-ca", pass, MYSQL_OPT_SSL_CA},
    {"ssl-capath", pass, MYSQL_OPT_SSL_CAPATH},
    {"ssl-cert", pass, MYSQL_OPT_SSL_CERT},
    {"ssl-cipher", pass, MYSQL_OPT_SSL_CIPHER},
    {"ssl-crl", pass, MYSQL_OPT_SSL_CRL},
    {"ssl-crlpath", pass, MYSQL_OPT_SSL_CRLPATH},
    {"ssl-key", pass, MYSQL_OPT_SSL_KEY},
    {"ssl-mode", set_tls, 0},
    {"tls-version", pass, MARIADB_OPT_TLS_VERSION},
};

#define OPTION_COUNT (sizeof options / sizeof options[0])

static bool is_name(const char *given, const char *name)
{
    while (*name != '\0' &&
           (*given == *name || (*given == '_' && *name == '-') || (*given == '-' && *name == '_')))
        given++, name++;
    return *given == '\0' && *name == '\0';
}

/* A name that is none is not shown: a '?' in a password makes the rest of it the first option. */
static pawl_code refuse_option(const pawl__mysql_url *parts, const char *name, pawl_error *error)
{
    char   names[OPTION_COUNT * 20];
    size_t used = 0;
    if (name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")] !=
        '\0')
        return refuse(parts,
                      "an option's name has a character that no option has; '?' in a "
                      "password must be written as %3F",
                      error);
    for (size_t i = 0; i < OPTION_COUNT; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                                 options[i].name);
    return pawl_error_set(error, PAWL_ECONFIG, "mysql: unknown option '%s', known: %s", name,
                          names);
}

static pawl_code read_option(pawl__mysql_url *parts, char *pair, pawl_error *error)
{
    char *value = cut(pair, '=');
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (!is_name(pair, options[i].name))
            continue;
        if (value == NULL || !decode(value))
            return pawl_error_set(error, PAWL_ECONFIG,
                                  "mysql: option '%s' has no value that can be read",
                                  options[i].name);
        return options[i].set(parts, &options[i], value, error);
    }
    return refuse_option(parts, pair, error);
}

static pawl_code read_options(pawl__mysql_url *parts, char *text, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    while (code == PAWL_OK && text != NULL) {
        char *next = cut(text, '&');
        if (text[0] != '\0')
            code = read_option(parts, text, error);
        text = next;
    }
    return code;
}

/* ---- What stands before them ---------------------------------------------- */

static bool read_user(pawl__mysql_url *parts, char *user)
{
    char *password  = cut(user, ':');
    parts->user     = user[0] != '\0' ? user : NULL;
    parts->password = password;
    return decode(user) && (password == NULL || decode(password));
}

static bool read_port(const char *text, unsigned *port)
{
    char *end   = NULL;
    long  value = text != NULL ? strtol(text, &end, 10) : PORT_DEFAULT;
    *port       = (unsigned)value;
    return text == NULL || (end != text && *end == '\0' && strspn(text, "0123456789") > 0 &&
                            value >= 1 && value <= PORT_MAX);
}

/* "host", "host:3307", "[::1]:3307". */
static bool read_host(pawl__mysql_url *parts, char *text)
{
    pawl__mysql_host *host  = &parts->hosts[parts->host_count++];
    bool              is_v6 = text[0] == '[';
    char             *end   = is_v6 ? cut(++text, ']') : text;
    if (end == NULL || (is_v6 && *end != '\0' && *end != ':'))
        return false;
    char *port = cut(end, ':');
    host->name = text;
    return decode(text) && strlen(text) <= HOST_SIZE_MAX && strpbrk(text, "[]/ ") == NULL &&
           read_port(port, &host->port);
}

static pawl_code read_hosts(pawl__mysql_url *parts, char *text, pawl_error *error)
{
    while (text != NULL) {
        char *next = cut(text, ',');
        if (parts->host_count == PAWL__MYSQL_HOSTS_MAX)
            return refuse(parts, "more than 16 hosts", error);
        if (!read_host(parts, text))
            return refuse(parts,
                          "a host or its port cannot be read (a port is 1 to 65535); '/', '?' and "
                          "'@' in a password must be written as %2F, %3F and %40",
                          error);
        text = next;
    }
    return PAWL_OK;
}

static pawl_code read_database(pawl__mysql_url *parts, char *text, pawl_error *error)
{
    if (text == NULL || text[0] == '\0')
        return refuse(parts, "no database is named: mysql://host/database", error);
    if (strpbrk(text, "/@") != NULL)
        return refuse(parts,
                      "the database's name holds '/' or '@': in it, and in a password, they must "
                      "be written as %2F and %40",
                      error);
    parts->database = text;
    if (!decode(text) || strlen(text) > DATABASE_CHARS_MAX * 4)
        return refuse(parts, "the database's name cannot be read (64 characters at most)", error);
    return PAWL_OK;
}

static pawl_code read_parts(pawl__mysql_url *parts, pawl_error *error)
{
    char *text = strstr(parts->text, "://");
    if (text == NULL)
        return refuse(parts, "the URL does not begin with mysql:// or mariadb://", error);
    char *given_options = cut(text += 3, '?');
    char *database      = cut(text, '/');
    char *at            = strrchr(text, '@');
    char *user          = at != NULL ? text : NULL;
    if (at != NULL)
        *at++ = '\0';
    if (user != NULL && (strchr(user, '@') != NULL || !read_user(parts, user)))
        return refuse(parts,
                      "the user or the password cannot be read: '%', '/', '?' and '@' in them must "
                      "be written as %25, %2F, %3F and %40",
                      error);
    pawl_code code = read_hosts(parts, at != NULL ? at : text, error);
    if (code == PAWL_OK)
        code = read_database(parts, database, error);
    if (code == PAWL_OK)
        code = read_options(parts, given_options, error);
    return code;
}

/* ---- The whole ------------------------------------------------------------- */

/* Options that do not go together, and the defaults that depend on others. */
static pawl_code check(pawl__mysql_url *parts, pawl_error *error)
{
    const char *host    = parts->hosts[0].name;
    bool        has_own = false; /* an authority of one's own */
    for (size_t i = 0; i < parts->passed_count; i++)
        has_own |= parts->passed[i].option == MYSQL_OPT_SSL_CA ||
                   parts->passed[i].option == MYSQL_OPT_SSL_CAPATH;
    if (has_own && !parts->has_tls)
        parts->tls = PAWL__MYSQL_TLS_VERIFY;
    if (parts->host_count > 1 && parts->connect_timeout_s == 0)
        parts->connect_timeout_s = CONNECT_TIMEOUT_S_OF_SEVERAL;
    if (parts->socket != NULL &&
        (parts->host_count > 1 || (host[0] != '\0' && strcmp(host, "localhost") != 0)))
        return refuse(parts, "a socket is on this machine: no other host may be named beside it",
                      error);
    return PAWL_OK;
}

static pawl_code no_memory(pawl_error *error)
{
    return pawl_error_set(error, PAWL_ENOMEM, "mysql: out of memory for the URL");
}

static pawl_code copy(pawl__mysql_url *parts, const char *url, pawl_arena *arena, pawl_error *error)
{
    pawl_text masked = arena != NULL ? pawl_url_masked(url, arena) : (pawl_text){0};
    bool      is_cut = masked.size > GIVEN_SIZE_MAX;
    parts->text      = pawl_allocate(strlen(url) + 1);
    parts->given     = pawl_allocate(GIVEN_SIZE_MAX + 1);
    if (masked.data == NULL || parts->text == NULL || parts->given == NULL)
        return no_memory(error);
    memcpy(parts->text, url, strlen(url) + 1);
    (void)snprintf(parts->given, GIVEN_SIZE_MAX + 1, is_cut ? "%.*s..." : "%.*s",
                   is_cut ? GIVEN_SIZE_MAX - 3 : (int)masked.size, masked.data);
    return PAWL_OK;
}

pawl_code pawl__mysql_url_read(pawl__mysql_url *parts, const char *url, pawl_error *error)
{
    *parts            = (pawl__mysql_url){0};
    pawl_arena *arena = pawl_arena_create(1024);
    pawl_code   code  = copy(parts, url, arena, error);
    pawl_arena_destroy(arena);
    if (code == PAWL_OK)
        code = read_parts(parts, error);
    return code == PAWL_OK ? check(parts, error) : code;
}

void pawl__mysql_url_free(pawl__mysql_url *parts)
{
    pawl_free(parts->text);
    pawl_free(parts->given);
    *parts = (pawl__mysql_url){0};
}
