/* url.c - schemes, and URLs that may be shown.
 *
 *     scheme://user:password@host:port,host:port/path?name=value&name=value#rest
 *     sqlite:path?name=value                 memory:name
 *     odbc:name?name=value                   odbc:Name=value;PWD=password;Name={value}?name=value
 *
 * A password stands between the user's name and '@', and in parameters such as
 * "password=". Only a text that has one of these forms is shown, without it; where it can
 * be read in two ways, because a password has an unescaped '/', '?', '@' or '&', more is
 * masked, never less. A text that has no such form is masked whole, but for its scheme:
 * nobody knows where a password ends in it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/core.h"
#include "store/core/url_read.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MASK "***"
#define NAME_SIZE_MAX 64 /* of a parameter; a longer name is taken for a secret one */
#define DECODINGS_MAX 3  /* of a name that was escaped again and again */
#define PORT_SIZE_MAX 5

/* ---- Characters ------------------------------------------------------------- */

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_word(char c)
{
    return is_lower(lower(c)) || is_digit(c) || c == '_' || c == '-' || c == '.';
}

/* Each of them is a word's character or one of `more`. */
static bool are_all(pawl_text text, const char *more)
{
    for (size_t i = 0; i < text.size; i++)
        if (!is_word(text.data[i]) && (text.data[i] == '\0' || strchr(more, text.data[i]) == NULL))
            return false;
    return true;
}

static bool has_control(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7F)
            return true;
    return false;
}

static const char *find_char(pawl_text text, char c)
{
    return text.size != 0 ? memchr(text.data, c, text.size) : NULL;
}

static const char *find_last(pawl_text text, char c)
{
    return text.size != 0 ? memrchr(text.data, c, text.size) : NULL;
}

static pawl_text text_between(const char *begin, const char *end)
{
    return (pawl_text){.data = begin, .size = (size_t)(end - begin)};
}

/* ---- Schemes -------------------------------------------------------------------- */

size_t pawl__url_scheme_size(const char *url)
{
    if (url == NULL || !is_lower(url[0]))
        return 0;
    size_t size = 1;
    while (is_lower(url[size]) || is_digit(url[size]) || url[size] == '+' || url[size] == '-')
        size++;
    return url[size] == ':' && size < PAWL_PREFIX_SIZE_MAX ? size : 0;
}

bool pawl__url_is_scheme(const char *scheme)
{
    char url[PAWL_PREFIX_SIZE_MAX + 2];
    if (scheme == NULL || *scheme == '\0')
        return false;
    (void)snprintf(url, sizeof url, "%s:", scheme);
    return pawl__url_scheme_size(url) == strlen(scheme);
}

/* As pawl__url_scheme_size where letters may be capital ones, which no driver takes. */
static size_t any_scheme_size(const char *url)
{
    size_t size = 0;
    while (is_lower(lower(url[size])) ||
           (size > 0 && (is_digit(url[size]) || url[size] == '+' || url[size] == '-')))
        size++;
    return size > 0 && url[size] == ':' ? size : 0;
}

/* A path or a name stands behind it, in which any character may be. */
static bool is_path_scheme(const char *url, size_t size)
{
    return (size == 6 && strncasecmp(url, "sqlite", size) == 0) ||
           (size == 6 && strncasecmp(url, "memory", size) == 0);
}

/* ---- Names of parameters ------------------------------------------------------------- */

/* "pass%77ord" in place; other characters stay. True when something was decoded. */
static bool decode(char *name)
{
    bool  is_changed = false;
    char *to         = name;
    while (*name != '\0') {
        int high = name[0] == '%' ? pawl__url_hex_digit(name[1]) : -1;
        int low  = high >= 0 ? pawl__url_hex_digit(name[2]) : -1;
        is_changed |= low >= 0;
        *to++ = low >= 0 ? (char)(high * 16 + low) : *name;
        name += low >= 0 ? 3 : 1;
    }
    *to = '\0';
    return is_changed;
}

/* The name as a driver may read it: decoded, in small letters, without what is no letter,
 * digit, '_', '-' or '.'. Empty: it is longer than any name. */
static void read_name(pawl_text given, char name[NAME_SIZE_MAX + 1])
{
    char   text[NAME_SIZE_MAX + 1] = "";
    size_t size                    = 0;
    if (given.size <= NAME_SIZE_MAX && given.size != 0) {
        memcpy(text, given.data, given.size);
        text[given.size] = '\0';
    }
    for (int i = 0; i < DECODINGS_MAX && decode(text); i++) {
    }
    for (const char *at = text; *at != '\0'; at++)
        if (is_word(*at))
            name[size++] = lower(*at);
    name[size] = '\0';
}

static bool ends_with(const char *name, const char *end)
{
    size_t size = strlen(name), end_size = strlen(end);
    return size >= end_size && strcmp(name + size - end_size, end) == 0;
}

static bool is_secret(const char *name)
{
    static const char *const parts[] = {
        "pass",      "pwd",     "secret",     "token",       "credential", "apikey",
        "api_key",   "api-key", "accesskey",  "access_key",  "accountkey", "account_key",
        "sharedkey", "scram",   "privatekey", "private_key", "signature"};
    static const char *const whole[] = {"pw", "sig", "sas", "pin", "authmechanismproperties"};
    if (name[0] == '\0')
        return true;
    if (ends_with(name, "file") || ends_with(name, "path"))
        return false; /* where it stands, not what it is */
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strstr(name, parts[i]) != NULL)
            return true;
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        if (strcmp(name, whole[i]) == 0)
            return true;
    return false;
}

/* After a password "&name=" may be part of it, unless the name is one of these. */
static bool is_known(const char *name)
{
    static const char *const names[] = {"application_name",
                                        "busy_ms",
                                        "cache_mb",
                                        "connect_timeout",
                                        "create",
                                        "database",
                                        "dbname",
                                        "defaults-file",
                                        "dialect",
                                        "driver",
                                        "dsn",
                                        "encrypt",
                                        "host",
                                        "hostaddr",
                                        "log_mb",
                                        "options",
                                        "pooler",
                                        "port",
                                        "schema",
                                        "server",
                                        "socket",
                                        "ssl-ca",
                                        "ssl-capath",
                                        "ssl-cert",
                                        "ssl-cipher",
                                        "ssl-crl",
                                        "ssl-crlpath",
                                        "ssl-key",
                                        "ssl-mode",
                                        "sslcert",
                                        "sslkey",
                                        "sslmode",
                                        "sslrootcert",
                                        "synchronous",
                                        "target_session_attrs",
                                        "tls",
                                        "tls-version",
                                        "trustservercertificate",
                                        "uid",
                                        "user"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* ---- Output ----------------------------------------------------------------------------- */

/* A growing text in a fixed buffer; a piece that does not fit is left out. */
typedef struct outbound {
    char  *text;
    size_t size; /* with room for the NUL */
    size_t used;
    bool   is_http; /* a token may be its user or its password */
} outbound;

static void put(outbound *out, pawl_text text)
{
    size_t room = out->size - 1 - out->used;
    size_t part = text.size < room ? text.size : room;
    if (part != 0)
        memcpy(out->text + out->used, text.data, part);
    out->used += part;
}

static void put_mask(outbound *out)
{
    put(out, PAWL_TEXT(MASK));
}

/* ---- Parameters ---------------------------------------------------------------------------- */

/* A value that is a URL itself, or a list of settings, is not taken apart. */
static bool is_plain_value(pawl_text value)
{
    return strcspn(value.data, "=") >= value.size &&
           memmem(value.data, value.size, "://", 3) == NULL;
}

/* Copies "?a=b&password=c" with secret values masked. False when the rest must not be
 * shown: it may be a part of a password. */
static bool put_parameter(outbound *out, pawl_text pair, bool *is_behind_secret)
{
    char        name[NAME_SIZE_MAX + 1];
    const char *equals = find_char(pair, '=');
    if (equals == NULL && *is_behind_secret)
        return false;
    if (equals == NULL) {
        put(out, are_all(pair, "") ? pair : PAWL_TEXT(MASK));
        return true;
    }
    pawl_text value = text_between(equals + 1, pair.data + pair.size);
    read_name(text_between(pair.data, equals), name);
    bool is_hidden = is_secret(name);
    if (*is_behind_secret && !is_hidden && !is_known(name))
        return false;
    *is_behind_secret |= is_hidden;
    put(out, text_between(pair.data, equals + 1));
    put(out, !is_hidden && is_plain_value(value) ? value : PAWL_TEXT(MASK));
    return true;
}

static void put_parameters(outbound *out, const char *text, bool is_behind_secret)
{
    while (*text != '\0') {
        pawl_text separator = text_between(text, text + 1);
        pawl_text pair      = text_between(text + 1, text + 1 + strcspn(text + 1, "?&;#"));
        size_t    used      = out->used;
        put(out, separator);
        if (!put_parameter(out, pair, &is_behind_secret)) {
            out->used = used;
            return;
        }
        text += 1 + pair.size;
    }
}

/* Is each of them "name=value", or at least a word? Behind '#' an '@' may end a password. */
static bool are_parameters(const char *text)
{
    while (*text != '\0') {
        pawl_text pair = text_between(text + 1, text + 1 + strcspn(text + 1, "?&;#"));
        if ((find_char(pair, '=') == NULL || *text == '#') && find_char(pair, '@') != NULL)
            return false;
        text += 1 + pair.size;
    }
    return true;
}

/* ---- Hosts ------------------------------------------------------------------------------------ */

/* "host", "host:5432", "[::1]:5432", "%2Fvar%2Frun". */
static bool is_host(pawl_text host)
{
    const char *end  = host.data + host.size;
    const char *name = host.data;
    if (host.size != 0 && name[0] == '[') {
        const char *close = find_char(host, ']');
        if (close == NULL || !are_all(text_between(name + 1, close), ":%"))
            return false;
        name = close + 1;
    }
    const char *colon = find_char(text_between(name, end), ':');
    if (!are_all(text_between(name, colon != NULL ? colon : end), "%*"))
        return false;
    pawl_text port = colon != NULL ? text_between(colon + 1, end) : text_between(end, end);
    for (size_t i = 0; i < port.size; i++)
        if (!is_digit(port.data[i]))
            return false;
    return port.size <= PORT_SIZE_MAX;
}

static bool are_hosts(pawl_text hosts)
{
    const char *at = hosts.data, *end = hosts.data + hosts.size;
    for (;;) {
        const char *comma = find_char(text_between(at, end), ',');
        if (!is_host(text_between(at, comma != NULL ? comma : end)))
            return false;
        if (comma == NULL)
            return true;
        at = comma + 1;
    }
}

/* Hosts, a path without '@' and parameters: nothing here can be the end of a password. */
static bool is_location(const char *text)
{
    const char *path       = text + strcspn(text, "/?#");
    const char *parameters = path + strcspn(path, "?#");
    return are_hosts(text_between(text, path)) &&
           find_char(text_between(path, parameters), '@') == NULL && are_parameters(parameters);
}

static void put_location(outbound *out, const char *text)
{
    const char *parameters = text + strcspn(text, "?#");
    put(out, text_between(text, parameters));
    put_parameters(out, parameters, false);
}

/* ---- The user ------------------------------------------------------------------------------------ */

/* The end of the user's name: a colon, also written as %3A. */
static const char *name_end(pawl_text user)
{
    for (size_t i = 0; i < user.size; i++)
        if (user.data[i] == ':' || (i + 2 < user.size && strncasecmp(user.data + i, "%3A", 3) == 0))
            return user.data + i;
    return NULL;
}

/* Copies "user:password" as "user:***"; for http as "***", where user or password may be a token. A name that may be
 * part of a password is masked, too. */
static bool put_user(outbound *out, pawl_text user)
{
    const char *colon = name_end(user);
    pawl_text   name  = colon != NULL ? text_between(user.data, colon) : user;
    if (!are_all(name, "%~!$*+,()"))
        return false;
    put(out, out->is_http ? PAWL_TEXT(MASK) : name);
    if (colon != NULL && !out->is_http)
        put(out, PAWL_TEXT(":" MASK));
    return true;
}

/* Copies the URL after "scheme://", masked. False: unknown form, nothing may be shown. A '#' counts as part of the
 * password, since drivers end the authority only at '/' and '?'. */
static bool put_authority(outbound *out, const char *text)
{
    size_t      size = strcspn(text, "/?");
    const char *at   = find_last(text_between(text, text + size), '@');
    const char *rest = at != NULL ? at + 1 : text;
    if (!is_location(rest)) {
        /* The password may contain '/' or '?': then the last '@' ends the user part. */
        at   = strrchr(text, '@');
        rest = at != NULL ? at + 1 : text;
        if (at == NULL || find_char(text_between(text, at), ':') == NULL || !is_location(rest))
            return false;
    }
    if (at != NULL && !put_user(out, text_between(text, at)))
        return false;
    if (at != NULL)
        put(out, PAWL_TEXT("@"));
    put_location(out, rest);
    return true;
}

/* ---- Paths ------------------------------------------------------------------------------------------- */

/* A file may have any name; a name that looks like a login, or contains a password, is hidden. */
static bool is_shown_path(pawl_text path)
{
    char        name[NAME_SIZE_MAX + 1];
    size_t      size   = strcspn(path.data, "/");
    pawl_text   first  = text_between(path.data, path.data + (size < path.size ? size : path.size));
    const char *equals = find_char(path, '=');
    if (name_end(first) != NULL && find_char(path, '@') != NULL)
        return false;
    if (equals == NULL)
        return true;
    pawl_text before = text_between(path.data, equals);
    if (before.size > NAME_SIZE_MAX)
        before = text_between(equals - NAME_SIZE_MAX, equals);
    read_name(before, name);
    return !is_secret(name);
}

static bool put_path(outbound *out, const char *text, bool is_any)
{
    pawl_text path = text_between(text, text + strcspn(text, "?"));
    if (is_any ? !is_shown_path(path) : !are_all(path, "/"))
        return false;
    put_location(out, text);
    return true;
}

/* ---- ODBC ------------------------------------------------------------------------------------------------- */

/* The last of these characters outside of braces, or the first; the end where there is none. */
static const char *find_outside(pawl_text text, char wanted, bool is_last)
{
    const char *end = text.data + text.size, *found = end;
    bool        is_inside = false;
    for (const char *at = text.data; at < end && (is_last || found == end); at++) {
        if (*at == '{' && at > text.data && at[-1] == '=')
            is_inside = true;
        else if (*at == '}')
            is_inside = false;
        else if (*at == wanted && !is_inside)
            found = at;
    }
    return found;
}

/* Copies the name of a data source, or a connection string: after a password the first unknown attribute and all that
 * follows is hidden, since it may be part of the password. */
static bool put_connection(outbound *out, const char *text)
{
    const char *end              = find_outside(text_between(text, text + strlen(text)), '?', true);
    bool        is_behind_secret = false;
    if (find_char(text_between(text, end), '=') == NULL) {
        if (!are_all(text_between(text, end), " "))
            return false;
        put(out, text_between(text, end));
        text = end;
    }
    while (text < end) {
        const char *stop = find_outside(text_between(text, end), ';', false);
        if (!put_parameter(out, text_between(text, stop), &is_behind_secret)) {
            put_mask(out);
            break;
        }
        put(out, text_between(stop, stop < end ? stop + 1 : stop));
        text = stop < end ? stop + 1 : stop;
    }
    put_parameters(out, end, is_behind_secret);
    return true;
}

static bool put_url(outbound *out, const char *url)
{
    size_t scheme = any_scheme_size(url);
    if (scheme == 0)
        return put_path(out, url, false);
    const char *rest = url + scheme + 1;
    put(out, text_between(url, rest));
    if (has_control(rest))
        return false;
    if (scheme == 4 && strncasecmp(url, "odbc", scheme) == 0)
        return put_connection(out, rest);
    if (strncmp(rest, "//", 2) != 0)
        return put_path(out, rest, is_path_scheme(url, scheme));
    put(out, PAWL_TEXT("//"));
    out->is_http = scheme >= 4 && strncasecmp(url, "https", scheme) == 0;
    return put_authority(out, rest + 2);
}

void pawl__url_mask(const char *url, char *text, size_t size)
{
    outbound out = {text, size, 0, false};
    if (url != NULL && !put_url(&out, url)) {
        size_t scheme = any_scheme_size(url);
        out.used      = 0;
        put(&out, text_between(url, url + (scheme != 0 ? scheme + 1 : 0)));
        put_mask(&out);
    }
    text[out.used] = '\0';
}

pawl_text pawl_url_masked(const char *url, pawl_arena *arena)
{
    /* Each mask takes the place of a text that may be empty behind a separator
     * or '=', so that no URL becomes more than three times as long. */
    size_t size = url != NULL ? strlen(url) * 3 + sizeof MASK : 1;
    char  *text = pawl_arena_take(arena, size);
    if (text == NULL)
        return (pawl_text){0};
    pawl__url_mask(url, text, size);
    return pawl_text_of(text);
}
