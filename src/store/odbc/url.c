/* url.c - converts URLs to connection strings. A URL with odbc: contains one, or the name of a data source; for the
 * others it is made from the URL's parts, with the driver's keywords.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/url.h"

#include "store/sql/dialect.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define CONNECTION_SIZE_MAX 4000
#define NOT_GIVEN (-1)
#define PASSED_MAX 6
#define IN_BRACES "[]{}(),;?*=!@ "
#define CREATE                             \
    "create", PAWL__URL_WORD, AT(creates), \
        "no: a server's tables are made by 'pawl schema apply'", .words = creates

static const char *const creates[] = {"no", NULL};
static const char *const names[]   = {"128", "30", NULL};

static pawl_code check_size(const char *driver, size_t size, pawl_error *error)
{
    return size <= CONNECTION_SIZE_MAX
               ? PAWL_OK
               : pawl_error_set(error, PAWL_EINVAL,
                                "%s: a connection string of %zu bytes, limit %d", driver, size,
                                CONNECTION_SIZE_MAX);
}

static pawl_code no_memory(const char *driver, pawl_error *error)
{
    return pawl_error_set(error, PAWL_ENOMEM, "%s: out of memory for the URL", driver);
}

/* ---- Servers ------------------------------------------------------------------ */

/* An option that is passed to the driver, or is part of the server's address. */
typedef struct passed {
    const char *name;
    /* Keywords for drivers whose name contains the scheme's word, and for others. NULL: the driver has no such option;
     * "": append_place uses it. */
    const char        *keywords[2];
    const char *const *words; /* its values; NULL: any text */
    const char        *allowed;
} passed;

/* The options of a URL. */
typedef struct settings {
    const char *driver;
    const char *attributes;
    const char *texts[PASSED_MAX]; /* by the scheme's options; NULL: not given */
    int         words[PASSED_MAX];
    int         creates;
} settings;

/* URLs of one scheme. */
typedef struct scheme {
    pawl__url_kind     kind; /* without its options */
    pawl__odbc_dialect dialect;
    const char        *driver; /* default of the option `driver` */
    const char        *word;   /* selects the first keywords, if the driver's name contains it */
    const passed      *options;
    size_t             option_count;
    /* Appends the address of the server and the name of the database. */
    pawl_code (*append_place)(pawl__sql_text *to, pawl__odbc_url *url, const settings *given,
                              pawl_error *error);
} scheme;

/* Does the driver's name contain the word, in any case? */
static bool is_driver(const char *driver, const char *word)
{
    for (size_t size = strlen(word); *driver != '\0'; driver++)
        if (strncasecmp(driver, word, size) == 0)
            return true;
    return false;
}

/* ";KEYWORD=value". A brace within braces is written twice. */
static void append_pair(pawl__sql_text *to, const char *keyword, const char *value)
{
    bool is_braced = strpbrk(value, IN_BRACES) != NULL;
    pawl__sql_appendf(to, "%s%s=%s", to->size != 0 ? ";" : "", keyword, is_braced ? "{" : "");
    for (; *value != '\0'; value++)
        pawl__sql_appendf(to, "%s%c", is_braced && *value == '}' ? "}" : "", *value);
    pawl__sql_append(to, is_braced ? "}" : "");
}

/* ---- mssql:// ------------------------------------------------------------------- */

#define TDS "tds" /* "FreeTDS", "libtdsodbc.so" */

/* FreeTDS reads the certificate authority and the host's name from freetds.conf. */
static const passed mssql_options[] = {
    {"application_name", .keywords = {"APP", "APP"}},
    {"encrypt", .keywords = {"Encryption", "Encrypt"}},
    {"hostname_in_certificate", .keywords = {NULL, "HostNameInCertificate"}},
    {"server_certificate", .keywords = {NULL, "ServerCertificate"}},
    {"trust_server_certificate", .keywords = {NULL, "TrustServerCertificate"}},
};

static pawl_code append_mssql(pawl__sql_text *to, pawl__odbc_url *url, const settings *given,
                              pawl_error *error)
{
    const pawl__url_host *host = &url->parts.hosts[0];
    const char           *name = host->name[0] != '\0' ? host->name : "localhost";
    (void)error;
    if (is_driver(given->driver, TDS)) {
        append_pair(to, "Server", name);
        pawl__sql_appendf(to, ";Port=%u", host->port);
    } else {
        pawl__sql_appendf(to, ";Server=tcp:%.255s,%u", name,
                          host->port); /* the comma needs no braces */
    }
    append_pair(to, "Database", url->parts.database);
    return PAWL_OK;
}

/* ---- oracle:// ------------------------------------------------------------------- */

enum { NAMES, PROTOCOL, SERVER_DN, SID, WALLET };

static const char *const protocols[] = {"tcp", "tcps", NULL};
static const char *const sids[]      = {"no", "yes", NULL};

/* All options are part of the connect descriptor, whatever the driver's name is. */
static const passed oracle_options[] = {
    [NAMES]     = {"names", {"", ""}, names, "128 or 30"},
    [PROTOCOL]  = {"protocol", {"", ""}, protocols, "tcp or tcps"},
    [SERVER_DN] = {"server_dn", .keywords = {"", ""}},
    [SID]       = {"sid", {"", ""}, sids, "no or yes"},
    [WALLET]    = {"wallet", .keywords = {"", ""}},
};

/* Refuses parentheses, which would begin another part of the descriptor. */
static pawl_code check_text(const char *what, const char *text, pawl_error *error)
{
    return text == NULL || strpbrk(text, "()\"{}") == NULL
               ? PAWL_OK
               : pawl_error_set(error, PAWL_EINVAL,
                                "oracle: %s has a parenthesis, a brace or a quote, which has no "
                                "place in a connect descriptor",
                                what);
}

static void append_security(pawl__sql_text *to, const char *wallet, const char *server_dn)
{
    if (wallet == NULL && server_dn == NULL)
        return;
    pawl__sql_append(to, "(SECURITY=");
    if (wallet != NULL)
        pawl__sql_appendf(to, "(MY_WALLET_DIRECTORY=%s)", wallet);
    if (server_dn != NULL)
        pawl__sql_appendf(to, "(SSL_SERVER_DN_MATCH=yes)(SSL_SERVER_CERT_DN=\"%s\")", server_dn);
    pawl__sql_append(to, ")");
}

static pawl_code append_oracle(pawl__sql_text *to, pawl__odbc_url *url, const settings *given,
                               pawl_error *error)
{
    const pawl__url_host *host   = &url->parts.hosts[0];
    const char           *wallet = given->texts[WALLET], *server_dn = given->texts[SERVER_DN];
    pawl_code             code = check_text("the host", host->name, error);
    if (code == PAWL_OK)
        code = check_text("the service", url->parts.database, error);
    if (code == PAWL_OK)
        code = check_text("wallet", wallet, error);
    if (code == PAWL_OK)
        code = check_text("server_dn", server_dn, error);
    url->names = given->words[NAMES];
    pawl__sql_appendf(to,
                      ";DBQ=(DESCRIPTION=(ADDRESS=(PROTOCOL=%s)(HOST=%s)(PORT=%u))"
                      "(CONNECT_DATA=(%s=%s))",
                      protocols[given->words[PROTOCOL]],
                      host->name[0] != '\0' ? host->name : "localhost", host->port,
                      given->words[SID] ? "SID" : "SERVICE_NAME", url->parts.database);
    append_security(to, wallet, server_dn);
    pawl__sql_append(to, ")");
    return code;
}

/* ---- Both --------------------------------------------------------------------- */

static const scheme schemes[] = {
    {
        .kind = {.driver = "mssql", .schemes = "mssql://", .port = 1433, .database_chars_max = 128},
        .dialect      = PAWL__ODBC_MSSQL,
        .driver       = "FreeTDS",
        .word         = TDS,
        .options      = mssql_options,
        .option_count = sizeof mssql_options / sizeof mssql_options[0],
        .append_place = append_mssql,
    },
    {
        .kind         = {.driver             = "oracle",
                         .schemes            = "oracle://",
                         .port               = 1521,
                         .database_chars_max = 128,
                         .database_word      = "service"},
        .dialect      = PAWL__ODBC_ORACLE,
        .driver       = "Oracle",
        .word         = "",
        .options      = oracle_options,
        .option_count = sizeof oracle_options / sizeof oracle_options[0],
        .append_place = append_oracle,
    },
};

/* NULL: an odbc: URL. */
static const scheme *scheme_of(const char *url)
{
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
        if (strncasecmp(url, schemes[i].kind.schemes, strlen(schemes[i].kind.driver) + 1) == 0)
            return &schemes[i];
    return NULL;
}

static pawl_code append_passed(pawl__sql_text *to, const scheme *of, const settings *given,
                               pawl_error *error)
{
    for (size_t i = 0; i < of->option_count; i++) {
        const char *keyword = of->options[i].keywords[!is_driver(given->driver, of->word)];
        if (given->texts[i] == NULL)
            continue;
        if (keyword == NULL)
            return pawl_error_set(error, PAWL_ECONFIG,
                                  "%s: the driver '%s' has no option '%s': name it in the driver's "
                                  "own words by attributes=KEYWORD%%3Dvalue",
                                  of->kind.driver, given->driver, of->options[i].name);
        if (keyword[0] != '\0')
            append_pair(to, keyword, given->texts[i]);
    }
    return PAWL_OK;
}

static pawl_code make_connection(const scheme *of, const settings *given, pawl__odbc_url *url,
                                 pawl_error *error)
{
    pawl__sql_text text = {0};
    append_pair(&text, "Driver", given->driver);
    pawl_code code = of->append_place(&text, url, given, error);
    if (url->parts.user != NULL)
        append_pair(&text, "UID", url->parts.user);
    if (url->parts.password != NULL)
        append_pair(&text, "PWD", url->parts.password);
    if (code == PAWL_OK)
        code = append_passed(&text, of, given, error);
    if (given->attributes != NULL)
        pawl__sql_appendf(&text, ";%s", given->attributes);
    if (code == PAWL_OK && text.is_failed)
        code = no_memory(of->kind.driver, error);
    if (code == PAWL_OK)
        code = check_size(of->kind.driver, text.size, error);
    url->connection = text.data;
    return code;
}

#define AT(member) offsetof(settings, member)

static pawl_code read_server(const scheme *of, pawl__odbc_url *url, const char *text,
                             pawl_error *error)
{
    settings         given                   = {.driver = of->driver};
    pawl__url_option options[PASSED_MAX + 3] = {
        {"attributes", PAWL__URL_FILLED, AT(attributes), "KEYWORD%3Dvalue%3B...", .min = 0},
        {CREATE},
        {"driver", PAWL__URL_FILLED, AT(driver),
         "the name of a driver that 'odbcinst -q -d' lists, or its file", .min = 0},
    };
    pawl__url_kind kind = of->kind;
    kind.options        = options;
    kind.option_count   = 3 + of->option_count;
    for (size_t i = 0; i < of->option_count; i++) {
        const passed *one     = &of->options[i];
        bool          is_word = one->words != NULL;
        options[3 + i] =
            (pawl__url_option){.name    = one->name,
                               .form    = is_word ? PAWL__URL_WORD : PAWL__URL_FILLED,
                               .offset  = is_word ? AT(words) + i * sizeof given.words[0]
                                                  : AT(texts) + i * sizeof given.texts[0],
                               .allowed = is_word ? one->allowed : "anything but empty",
                               .words   = one->words};
    }
    url->dialect   = (int)of->dialect;
    pawl_code code = pawl__url_read(&kind, text, &url->parts, &given, error);
    if (code == PAWL_OK && url->parts.host_count > 1)
        code = pawl__url_refuse(&kind, &url->parts,
                                "one host alone: the driver finds the others by options of its own",
                                error);
    return code == PAWL_OK ? make_connection(of, &given, url, error) : code;
}
#undef AT

/* ---- odbc: -------------------------------------------------------------------- */

/* The last '?' outside of braces; or NULL. */
static char *find_options(char *text)
{
    char *found  = NULL;
    bool  inside = false;
    for (char *at = text; *at != '\0'; at++) {
        if (*at == '{' && at > text && at[-1] == '=')
            inside = true;
        else if (*at == '}')
            inside = false;
        else if (*at == '?' && !inside)
            found = at;
    }
    return found;
}

static pawl_code take_connection(pawl__odbc_url *url, const char *before, pawl_error *error)
{
    bool   is_name = strchr(before, '=') == NULL;
    size_t size    = strlen(before) + sizeof "DSN=";
    if (before[0] == '\0')
        return pawl_error_set(error, PAWL_EINVAL,
                              "odbc: %s: neither a data source nor a connection string stands "
                              "before '?': odbc:NAME?dialect=mysql",
                              url->given);
    pawl_code code  = check_size("odbc", strlen(before), error);
    url->connection = code == PAWL_OK ? pawl_allocate(size) : NULL;
    if (url->connection != NULL)
        (void)snprintf(url->connection, size, "%s%s", is_name ? "DSN=" : "", before);
    return code == PAWL_OK && url->connection == NULL ? no_memory("odbc", error) : code;
}

#define AT(member) offsetof(pawl__odbc_url, member)

static pawl_code read_string(pawl__odbc_url *url, pawl_error *error)
{
    static const char *const      dialects[] = {"mysql", "postgres", "mssql", "oracle", NULL};
    static const pawl__url_option options[]  = {
         {CREATE},
         {"dialect", PAWL__URL_WORD, AT(dialect),
          "mysql, for MySQL and MariaDB, postgres, mssql or oracle", .words = dialects},
         {"names", PAWL__URL_WORD, AT(names), "128 or 30, of Oracle's names", .words = names},
    };
    static const pawl__url_kind kind = {
        .driver = "odbc", .options = options, .option_count = sizeof options / sizeof options[0]};
    char *before = strchr(url->text, ':') + 1;
    char *behind = find_options(before);
    if (behind != NULL)
        *behind++ = '\0';
    pawl_code code = take_connection(url, before, error);
    if (code == PAWL_OK)
        code = pawl__url_options(&kind, url->given, behind, url, error);
    if (code == PAWL_OK && url->dialect == NOT_GIVEN)
        code = pawl_error_set(
            error, PAWL_ECONFIG,
            "odbc: %s: '?dialect=' is missing at the end: mysql, postgres, mssql or oracle",
            url->given);
    return code;
}

pawl_code pawl__odbc_url_read(pawl__odbc_url *url, const char *text, pawl_error *error)
{
    const scheme *of   = scheme_of(text);
    size_t        size = strlen(text) + 1;
    *url               = (pawl__odbc_url){
                      .dialect = NOT_GIVEN, .text = pawl_allocate(size), .given = pawl__url_given(text)};
    if (url->text == NULL || url->given == NULL)
        return no_memory("odbc", error);
    memcpy(url->text, text, size);
    return of != NULL ? read_server(of, url, text, error) : read_string(url, error);
}

void pawl__odbc_url_free(pawl__odbc_url *url)
{
    pawl_free(url->text);
    pawl_free(url->connection);
    pawl_free(url->given);
    pawl__url_free(&url->parts);
    *url = (pawl__odbc_url){0};
}
