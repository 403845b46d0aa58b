/* open.c - reads the URL, connects, and refuses URLs and servers that cannot work.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/mongo.h"

#include "store/core/url_read.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define DATABASE_DEFAULT "pawl"
#define TLS_REMEDY "tls=true asks for encryption, and that the server's certificate is checked"
#define WIRE_VERSION_MIN 9 /* MongoDB 4.4 */
#define CONNECT_MS_MAX 10000
#define ANSWER_MS 1000 /* extra time in which the server can report that it ended the call */

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* libmongoc's own log is switched off, since its errors say the same. */
static void no_log(mongoc_log_level_t level, const char *domain, const char *text, void *context)
{
    (void)level, (void)domain, (void)text, (void)context;
}

static void start(void)
{
    mongoc_init();
    mongoc_log_set_handler(no_log, NULL);
}

/* ---- The URL ------------------------------------------------------------- */

/* Removes "create=no", which libmongoc does not know, from the options; true when it was there. */
static bool take_create_no(char *url)
{
    static const char option[] = "create=no";
    char             *at       = strchr(url, '?');
    while (at != NULL && strncmp(at + 1, option, sizeof option - 1) != 0)
        at = strchr(at + 1, '&');
    if (at == NULL)
        return false;
    char *end = at + sizeof option;
    if (*end != '\0' && *end != '&')
        return false;
    memmove(at + 1, end + (*end == '&'), strlen(end + (*end == '&')) + 1);
    return true;
}

static bool is_set(const mongoc_uri_t *uri, const char *option)
{
    return mongoc_uri_get_option_as_bool(uri, option, false);
}

/* libmongoc encrypts where the URL says so, or mongodb+srv://, and then checks the server. */
static pawl__url_tls tls_of(const mongoc_uri_t *uri)
{
    bool is_lax = is_set(uri, MONGOC_URI_TLSINSECURE) ||
                  is_set(uri, MONGOC_URI_TLSALLOWINVALIDCERTIFICATES) ||
                  is_set(uri, MONGOC_URI_TLSALLOWINVALIDHOSTNAMES);
    return !mongoc_uri_get_tls(uri) ? PAWL__URL_TLS_NONE
           : is_lax                 ? PAWL__URL_TLS_ENCRYPTED
                                    : PAWL__URL_TLS_VERIFIED;
}

static void warn_of_tls(const pawl_store *store, const char *url, const mongoc_uri_t *uri)
{
    const mongoc_host_list_t *host  = mongoc_uri_get_hosts(uri);
    char                     *given = pawl__url_given(url);
    bool is_chosen = mongoc_uri_has_option(uri, MONGOC_URI_TLS) || mongoc_uri_get_tls(uri);
    if (!is_chosen && host != NULL && given != NULL)
        pawl__url_warn_tls(store->scheme, given, host->host, tls_of(uri), TLS_REMEDY);
    pawl_free(given);
}

static pawl_code check_uri(const mongoc_uri_t *uri, pawl_error *error)
{
    const mongoc_write_concern_t *write = mongoc_uri_get_write_concern(uri);
    if (write != NULL && !mongoc_write_concern_is_acknowledged(write))
        return pawl_error_set(error, PAWL_ECONFIG,
                              "mongodb: the write concern w=0 is refused: a write that nobody "
                              "acknowledges may be lost, and no version could be checked; leave w "
                              "out of the URL");
    const char *name = mongoc_uri_get_database(uri);
    size_t      size = name != NULL ? strlen(name) : 0;
    if (size >= PAWL__MONGO_DATABASE_SIZE)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "mongodb: the database's name has %zu bytes, limit %d: %.40s...",
                              size, PAWL__MONGO_DATABASE_SIZE - 1, name);
    return pawl__url_require_tls("mongodb", tls_of(uri), TLS_REMEDY, error);
}

/* pawl's options replace those of the URL: writes wait for a majority, and reads return only what a majority has. */
static void set_options(const pawl_store *store, mongoc_uri_t *uri)
{
    int32_t                 deadline_ms = pawl__mongo_deadline_ms(store);
    mongoc_read_concern_t  *read        = mongoc_read_concern_new();
    mongoc_write_concern_t *write       = mongoc_write_concern_new();
    mongoc_read_prefs_t    *prefs       = mongoc_read_prefs_new(MONGOC_READ_PRIMARY);
    (void)mongoc_read_concern_set_level(read, MONGOC_READ_CONCERN_LEVEL_MAJORITY);
    mongoc_write_concern_set_wmajority(write, deadline_ms);
    mongoc_uri_set_read_concern(uri, read);
    mongoc_uri_set_write_concern(uri, write);
    mongoc_uri_set_read_prefs_t(uri, prefs);
    if (mongoc_uri_get_option_as_int32(uri, MONGOC_URI_SOCKETTIMEOUTMS, 0) == 0)
        (void)mongoc_uri_set_option_as_int32(uri, MONGOC_URI_SOCKETTIMEOUTMS,
                                             deadline_ms + ANSWER_MS);
    if (mongoc_uri_get_option_as_int32(uri, MONGOC_URI_CONNECTTIMEOUTMS, 0) == 0 &&
        deadline_ms < CONNECT_MS_MAX)
        (void)mongoc_uri_set_option_as_int32(uri, MONGOC_URI_CONNECTTIMEOUTMS, deadline_ms);
    if (mongoc_uri_get_option_as_utf8(uri, MONGOC_URI_APPNAME, NULL) == NULL)
        (void)mongoc_uri_set_appname(uri, "pawl");
    mongoc_read_prefs_destroy(prefs);
    mongoc_read_concern_destroy(read);
    mongoc_write_concern_destroy(write);
}

static void set_identity(pawl_store *store, const mongoc_uri_t *uri)
{
    pawl__mongo *self = pawl__mongo_of(store);
    const char  *name = mongoc_uri_get_database(uri);
    const char  *host = mongoc_uri_get_srv_hostname(uri);
    size_t       size;
    (void)snprintf(self->database, sizeof self->database, "%s",
                   name != NULL && *name != '\0' ? name : DATABASE_DEFAULT);
    (void)snprintf(store->identity, sizeof store->identity, "mongodb:%.63s/%.30s %.96s",
                   self->database, store->system_prefix, host != NULL ? host : "");
    for (const mongoc_host_list_t *at = mongoc_uri_get_hosts(uri); at != NULL; at = at->next) {
        size = strlen(store->identity);
        (void)snprintf(store->identity + size, sizeof store->identity - size, "%.60s,",
                       at->host_and_port);
    }
}

/* Size of "user:password" at `*user`; 0: none. `*is_well` false: another ':' or '@' follows, where libmongoc would read
 * the rest of the password as a host. */
static size_t user_size(char *text, char **user, bool *is_well)
{
    char *from = strstr(text, "://"), *at = NULL;
    *user = from != NULL ? from + 3 : text;
    for (char *next = *user; *next != '\0' && *next != '/'; next++)
        at = *next == '@' ? next : at;
    size_t size  = at != NULL ? (size_t)(at - *user) : 0;
    char  *colon = memchr(*user, ':', size);
    *is_well     = memchr(*user, '@', size) == NULL &&
               (colon == NULL || memchr(colon + 1, ':', (size_t)(at - colon) - 1) == NULL);
    return size;
}

/* Errors of libmongoc may contain the password, so the URL is parsed again with the password replaced. The password may
 * also end at an '@' after a '/'. */
static pawl_code refuse_url(char *text, pawl_error *error)
{
    bson_error_t  why;
    bool          is_well = false;
    char         *user;
    size_t        size = user_size(text, &user, &is_well);
    mongoc_uri_t *uri  = NULL;
    for (size_t i = 0; i < size; i++)
        user[i] = user[i] == ':' ? ':' : 'x';
    if (is_well && strchr(user + size + (size > 0), '@') == NULL) {
        uri = mongoc_uri_new_with_error(text, &why);
        if (uri == NULL)
            return pawl_error_set(error, PAWL_EINVAL, "mongodb: the URL cannot be read: %s",
                                  why.message);
        mongoc_uri_destroy(uri);
    }
    return pawl_error_set(error, PAWL_EINVAL,
                          "mongodb: the user or the password cannot be read: '%%', ':', '/', '?' "
                          "and '@' in them must be written as %%25, %%3A, %%2F, %%3F and %%40");
}

static bool is_known(const char *option)
{
    static const char *const untyped[] = {
        MONGOC_URI_AUTHMECHANISM,      MONGOC_URI_AUTHMECHANISMPROPERTIES,
        MONGOC_URI_AUTHSOURCE,         MONGOC_URI_COMPRESSORS,
        MONGOC_URI_GSSAPISERVICENAME,  MONGOC_URI_READCONCERNLEVEL,
        MONGOC_URI_READPREFERENCETAGS, MONGOC_URI_W};
    for (size_t i = 0; i < sizeof untyped / sizeof untyped[0]; i++)
        if (strcasecmp(option, untyped[i]) == 0)
            return true;
    return mongoc_uri_option_is_int32(option) || mongoc_uri_option_is_bool(option) ||
           mongoc_uri_option_is_utf8(option);
}

/* Refuses options that libmongoc does not know and would ignore: with "tsl=true" nothing would be encrypted. Cuts
 * `rest`, from the hosts on, into pieces. A piece with '@' may end a password, so names in it are not shown. */
static pawl_code check_options(char *rest, pawl_error *error)
{
    bool  is_shown = strchr(rest, '@') == NULL;
    char *next     = strchr(rest, '?');
    while (next != NULL) {
        char *name = next + 1;
        next       = strchr(name, '&');
        if (next != NULL)
            *next = '\0';
        name[strcspn(name, "=")] = '\0';
        if (*name != '\0' && !is_known(name))
            return pawl_error_set(
                error, PAWL_ECONFIG,
                "mongodb: unknown option '%.60s', libmongoc %s has none of that name",
                is_shown ? name : "***", mongoc_get_version());
    }
    return PAWL_OK;
}

static pawl_code read_url(pawl_store *store, const char *url, bool *is_create_no,
                          mongoc_uri_t **uri, pawl_error *error)
{
    bson_error_t why;
    bool         is_well = false;
    char        *user, *text = bson_strdup(url);
    pawl_code    code = PAWL_OK;
    *is_create_no     = take_create_no(text);
    size_t size       = user_size(text, &user, &is_well);
    if (is_well)
        *uri = mongoc_uri_new_with_error(text, &why);
    if (*uri == NULL)
        code = refuse_url(text, error);
    else
        code = check_options(user + size + (size > 0), error);
    bson_free(text);
    if (code == PAWL_OK)
        code = check_uri(*uri, error);
    if (code == PAWL_OK) {
        set_options(store, *uri);
        set_identity(store, *uri);
    }
    return code;
}

/* ---- The server ---------------------------------------------------------- */

static int64_t wire_version(const mongoc_server_description_t *server)
{
    int64_t version = 0;
    (void)pawl__mongo_get_int(mongoc_server_description_hello_response(server), "maxWireVersion",
                              &version);
    return version;
}

static pawl_code check_server(pawl_store *store, pawl_error *error)
{
    const pawl__mongo           *self = pawl__mongo_of(store);
    bson_error_t                 why;
    mongoc_server_description_t *server =
        mongoc_client_select_server(self->client, true, NULL, &why);
    if (server == NULL) {
        pawl_code code = pawl__mongo_fail(store, &why, NULL, error);
        return code == PAWL_ELOST ? pawl_error_wrap(error, PAWL_EUNREACHABLE, "open") : code;
    }
    pawl_code   code = PAWL_OK;
    const char *type = mongoc_server_description_type(server);
    if (strcmp(type, "Standalone") == 0)
        code = pawl_error_set(error, PAWL_ENOTSTORE,
                              "mongodb: %s is a standalone server, which has no transactions: a "
                              "commit could be half applied. Start it as a replica set of one: "
                              "mongod --replSet rs0, and once in mongosh: rs.initiate()",
                              mongoc_server_description_host(server)->host_and_port);
    else if (wire_version(server) < WIRE_VERSION_MIN)
        code =
            pawl_error_set(error, PAWL_ENOTSTORE,
                           "mongodb: %s is too old, its wire version is %lld: transactions as pawl "
                           "needs them came with MongoDB 4.4, wire version %d; upgrade the server",
                           mongoc_server_description_host(server)->host_and_port,
                           (long long)wire_version(server), WIRE_VERSION_MIN);
    mongoc_server_description_destroy(server);
    return code;
}

/* Refuses a `mongodb+srv:` host that the DNS does not resolve now, or an option that this libmongoc was built
 * without. */
static pawl_code refuse_uri(const bson_error_t *why, pawl_error *error)
{
    bool is_of_dns = why->domain == MONGOC_ERROR_STREAM;
    return pawl_error_set(error, is_of_dns ? PAWL_EUNREACHABLE : PAWL_ECONFIG,
                          "mongodb: the URL cannot be followed: %s", why->message);
}

pawl_code pawl__mongo_connect(pawl_store *store, pawl_error *error)
{
    pawl__mongo *self = pawl__mongo_of(store);
    bson_error_t why;
    self->client    = mongoc_client_new_from_uri_with_error(self->uri, &why);
    self->at_client = self->client;
    if (self->client == NULL)
        return refuse_uri(&why, error);
    (void)mongoc_client_set_error_api(self->client, MONGOC_ERROR_API_VERSION_2);
    pawl_code code = check_server(store, error);
    if (code != PAWL_OK)
        return code;
    self->session = mongoc_client_start_session(self->client, NULL, &why);
    return self->session != NULL ? PAWL_OK : pawl__mongo_fail(store, &why, NULL, error);
}

static pawl_code make_or_check(pawl_store *store, const pawl_store_options *options,
                               pawl_error *error)
{
    if (store->mode == PAWL_OPEN_CREATE)
        return pawl__mongo_schema_make(store, options->tables, options->table_count, error);
    return pawl__mongo_schema_check(store, options->tables, options->table_count, NULL, NULL,
                                    error);
}

pawl_code pawl__mongo_open(pawl_store *store, const char *url, const pawl_store_options *options,
                           pawl_error *error)
{
    pawl__mongo *self         = pawl__mongo_of(store);
    bool         is_create_no = false;
    (void)pthread_once(&once, start);
    pawl_code code = pawl__wait_open(&self->wait, "mongodb", error);
    if (code != PAWL_OK)
        return code;
    code = read_url(store, url, &is_create_no, &self->uri, error);
    if (is_create_no && store->mode == PAWL_OPEN_CREATE)
        store->mode = PAWL_OPEN_CHECK;
    if (code == PAWL_OK)
        warn_of_tls(store, url, self->uri);
    if (code != PAWL_OK || store->mode == PAWL_OPEN_SCHEMA)
        return code; /* schema() connects when it is called */
    code = pawl__mongo_connect(store, error);
    return code == PAWL_OK ? make_or_check(store, options, error) : code;
}

/* In a child process the sockets belong to the parent, so the sessions are not ended on the server. */
void pawl__mongo_close(pawl_store *store)
{
    pawl__mongo *self = pawl__mongo_of(store);
    if (!pawl__wait_is_ours(&self->wait))
        return;
    if (self->session != NULL)
        mongoc_client_session_destroy(self->session);
    if (self->client != NULL)
        mongoc_client_destroy(self->client);
    if (self->uri != NULL)
        mongoc_uri_destroy(self->uri);
    self->session = NULL;
    self->client  = NULL;
    self->uri     = NULL;
    pawl__wait_close(&self->wait);
}

/* libmongoc reconnects by itself; a call on a lost connection reports the loss. */
pawl_code pawl__mongo_ready(pawl_store *store, pawl_error *error)
{
    (void)pawl__wait_take(&pawl__mongo_of(store)->wait);
    return store->is_attached ? pawl__mongo_heartbeat(store, error) : PAWL_OK;
}
