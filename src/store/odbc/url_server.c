/* url_server.c - the URL of a server, and the options that its driver is passed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/url_server.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define PASSED_MAX 12
#define CONNECTION_SIZE_MAX 4000
#define IN_BRACES "[]{}(),;?*=!@ "

/* The options as they were read. */
typedef struct settings {
    const char *driver;
    const char *attributes;
    const char *passed[PASSED_MAX];
    int         creates;
} settings;

static const char *const creates[] = {"no", NULL};

const pawl__odbc_scheme *pawl__odbc_scheme_of(const char *url)
{
    static const pawl__odbc_scheme *const all[] = {&pawl__odbc_scheme_mssql,
                                                   &pawl__odbc_scheme_oracle};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        size_t size = strlen(all[i]->name);
        if (strncasecmp(url, all[i]->name, size) == 0 && url[size] == ':')
            return all[i];
    }
    return NULL;
}

bool pawl__odbc_is_driver(const char *driver, const char *word)
{
    for (size_t size = strlen(word); *driver != '\0'; driver++)
        if (strncasecmp(driver, word, size) == 0)
            return true;
    return false;
}

/* A brace within braces is written twice. */
void pawl__odbc_append_pair(pawl__sql_text *to, const char *keyword, const char *value)
{
    bool is_braced = strpbrk(value, IN_BRACES) != NULL;
    pawl__sql_appendf(to, "%s%s=%s", to->size != 0 ? ";" : "", keyword, is_braced ? "{" : "");
    for (; *value != '\0'; value++)
        pawl__sql_appendf(to, "%s%c", is_braced && *value == '}' ? "}" : "", *value);
    pawl__sql_append(to, is_braced ? "}" : "");
}

/* ---- Options -------------------------------------------------------------- */

/* The driver's keyword for an option; NULL: it has none. */
static const char *keyword_of(const pawl__odbc_scheme *scheme, const char *option,
                              const char *driver)
{
    for (size_t i = 0; i < scheme->passed_count; i++) {
        const pawl__odbc_passed *row = &scheme->passed[i];
        if (strcmp(row->option, option) == 0 &&
            (row->driver == NULL || pawl__odbc_is_driver(driver, row->driver)))
            return row->keyword;
    }
    return NULL;
}

static pawl_code append_passed(pawl__sql_text *to, const pawl__odbc_scheme *scheme,
                               const settings *given, pawl_error *error)
{
    for (size_t i = 0; scheme->options[i] != NULL; i++) {
        if (given->passed[i] == NULL)
            continue;
        const char *keyword = keyword_of(scheme, scheme->options[i], given->driver);
        if (keyword == NULL)
            return pawl_error_set(error, PAWL_ECONFIG,
                                  "%s: the driver '%s' has no option '%s': name it in the driver's "
                                  "own words by attributes=KEYWORD%%3Dvalue",
                                  scheme->name, given->driver, scheme->options[i]);
        if (keyword[0] != '\0')
            pawl__odbc_append_pair(to, keyword, given->passed[i]);
    }
    return PAWL_OK;
}

static pawl_code make_connection(const pawl__odbc_scheme *scheme, const settings *given,
                                 pawl__odbc_url *url, pawl_error *error)
{
    pawl__sql_text text = {0};
    pawl__odbc_append_pair(&text, "Driver", given->driver);
    pawl_code code = scheme->append_place(&text, given->driver, url, given->passed, error);
    if (url->parts.user != NULL)
        pawl__odbc_append_pair(&text, "UID", url->parts.user);
    if (url->parts.password != NULL)
        pawl__odbc_append_pair(&text, "PWD", url->parts.password);
    if (code == PAWL_OK)
        code = append_passed(&text, scheme, given, error);
    if (given->attributes != NULL)
        pawl__sql_appendf(&text, ";%s", given->attributes);
    if (code == PAWL_OK && text.is_failed)
        code = pawl_error_set(error, PAWL_ENOMEM, "%s: out of memory for the URL", scheme->name);
    if (code == PAWL_OK && text.size > CONNECTION_SIZE_MAX)
        code = pawl_error_set(error, PAWL_EINVAL, "%s: a connection string of %zu bytes, limit %d",
                              scheme->name, text.size, CONNECTION_SIZE_MAX);
    url->connection = text.data;
    return code;
}

pawl_code pawl__odbc_url_of_server(const pawl__odbc_scheme *scheme, pawl__odbc_url *url,
                                   const char *text, pawl_error *error)
{
    settings         given                   = {.driver = scheme->driver};
    pawl__url_option options[PASSED_MAX + 3] = {
        {"attributes", PAWL__URL_FILLED, offsetof(settings, attributes), "KEYWORD%3Dvalue%3B...",
         .min = 0},
        {"create", PAWL__URL_WORD, offsetof(settings, creates),
         "no: a server's tables are made by 'pawl schema apply'", .words = creates},
        {"driver", PAWL__URL_FILLED, offsetof(settings, driver),
         "the name of a driver that 'odbcinst -q -d' lists, or its file", .min = 0},
    };
    size_t count = 3;
    for (size_t i = 0; scheme->options[i] != NULL && i < PASSED_MAX; i++)
        options[count++] =
            (pawl__url_option){.name    = scheme->options[i],
                               .form    = PAWL__URL_FILLED,
                               .offset  = offsetof(settings, passed) + i * sizeof given.passed[0],
                               .allowed = "anything but empty"};
    char schemes[20];
    (void)snprintf(schemes, sizeof schemes, "%s://", scheme->name);
    const pawl__url_kind kind = {.driver             = scheme->name,
                                 .options            = options,
                                 .option_count       = count,
                                 .schemes            = schemes,
                                 .port               = scheme->port,
                                 .database_chars_max = scheme->database_chars_max,
                                 .database_word      = scheme->database_word};
    url->dialect              = (int)scheme->dialect;
    pawl_code code            = pawl__url_read(&kind, text, &url->parts, &given, error);
    if (code == PAWL_OK && url->parts.host_count > 1)
        code = pawl__url_refuse(&kind, &url->parts,
                                "one host alone: the driver finds the others by options of its own",
                                error);
    return code == PAWL_OK ? make_connection(scheme, &given, url, error) : code;
}
