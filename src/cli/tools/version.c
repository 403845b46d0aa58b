/* version.c - `pawl version`: prints the versions of the command and of libpawl, and with --json those of the
 * modules and of the libraries that they load.
 *
 *     find a module's file -> load it -> ask each of its libraries for its version
 *
 * The version functions of a module's libraries are looked up by name, since the command is not linked with these
 * libraries.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/cli.h"

#include "base/object.h"
#include "store/core/module.h"

#include <string.h>

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

typedef struct verb_fields {
    bool is_json;
} verb_fields;

const pawl__argument pawl__version_verb_arguments[] = {{.name = NULL}};
#define OPTION(name, kind, member, ...) PAWL__OPTION(verb_fields, name, kind, member, __VA_ARGS__)
const pawl__option pawl__version_verb_options[] = {
    OPTION("json", FLAG, is_json, NULL, 0,
           "print one JSON object, with the modules that are found"),
    {.name = NULL},
};

const pawl__report pawl__version_verb_reports[] = {
    {"the object", NULL, "version library abi compiler drivers"},
    {"drivers, an array in it", NULL, "name file libraries error"},
    {"libraries, of a driver", NULL, "name version file"},
    {.what = NULL},
};

/* ---- Libraries of modules -------------------------------------------------- */

typedef const char *text_fn(void);
typedef int         number_fn(void);

typedef enum answer {
    ANSWER_NONE,   /* the function does something else: it shows that the library is there */
    ANSWER_TEXT,   /* "3.40.1", or "libcurl/7.88.1 OpenSSL/3.0.19 ..." */
    ANSWER_NUMBER, /* 150018 is 15.18 */
} answer;

typedef struct client_library {
    const char *module;   /* libpawl-MODULE.so */
    const char *name;     /* as pkg-config has it */
    const char *function; /* of the library: its version */
    answer      answer;
} client_library;

/* Sorted by module. */
static const client_library libraries[] = {
    {"mongo", "libmongoc-1.0", "mongoc_get_version", ANSWER_TEXT},
    {"mysql", "libmariadb", "mysql_get_client_info", ANSWER_TEXT},
    {"observe", "libmicrohttpd", "MHD_get_version", ANSWER_TEXT},
    {"observe", "libcurl", "curl_version", ANSWER_TEXT},
    /* unixODBC has no function for its version. */
    {"odbc", "odbc", "SQLAllocHandle", ANSWER_NONE},
    {"postgres", "libpq", "PQlibVersion", ANSWER_NUMBER},
    {"rabbitmq", "librabbitmq", "amqp_version", ANSWER_TEXT},
    {"sqlite", "sqlite3", "sqlite3_libversion", ANSWER_TEXT},
};
#define LIBRARY_COUNT (sizeof libraries / sizeof libraries[0])

/* Fills `text` with the version, "" without one. */
static void ask_version(const client_library *library, void *symbol, char *text, size_t size)
{
    text[0] = '\0';
    if (library->answer == ANSWER_NUMBER) {
        number_fn *function;
        memcpy(&function, &symbol, sizeof function);
        int number = function();
        snprintf(text, size, "%d.%d", number / 10000, number % 10000);
    } else if (library->answer == ANSWER_TEXT) {
        text_fn *function;
        memcpy(&function, &symbol, sizeof function);
        const char *said  = function();
        const char *slash = strchr(said, '/');
        if (slash != NULL)
            said = slash + 1;
        snprintf(text, size, "%.*s", (int)strcspn(said, " "), said);
    }
}

static void add_library(yyjson_mut_doc *doc, yyjson_mut_val *list, void *module,
                        const client_library *library)
{
    char    version[100];
    Dl_info info;
    void   *symbol = dlsym(module, library->function);
    if (symbol == NULL)
        return; /* neither the module nor what it loads needs this library */
    ask_version(library, symbol, version, sizeof version);
    yyjson_mut_val *object = yyjson_mut_arr_add_obj(doc, list);
    yyjson_mut_obj_add_str(doc, object, "name", library->name);
    pawl__json_add_text(doc, object, "version", version[0] != '\0' ? version : NULL);
    pawl__json_add_text(doc, object, "file", dladdr(symbol, &info) != 0 ? info.dli_fname : NULL);
}

/* Loads the module, which stays loaded until the process ends. */
static void add_driver(yyjson_mut_doc *doc, yyjson_mut_val *list, const char *name)
{
    char       path[PAWL__OBJECT_PATH_SIZE];
    void      *module = NULL;
    pawl_error error  = PAWL_ERROR_INIT;
    if (!pawl__module_find(name, path))
        return;
    pawl_code       code   = pawl__object_open(path, &module, &error);
    yyjson_mut_val *object = yyjson_mut_arr_add_obj(doc, list);
    yyjson_mut_obj_add_str(doc, object, "name", name);
    yyjson_mut_obj_add_strcpy(doc, object, "file", path);
    yyjson_mut_val *loaded = yyjson_mut_obj_add_arr(doc, object, "libraries");
    for (size_t i = 0; code == PAWL_OK && i < LIBRARY_COUNT; i++)
        add_library(doc, loaded, module, &libraries[i]);
    pawl__json_add_text(doc, object, "error", code != PAWL_OK ? error.text : NULL);
}

/* ---- The verb ---------------------------------------------------------------- */

static pawl_code print_json(void)
{
    yyjson_mut_doc *doc  = pawl__json_create();
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    yyjson_mut_obj_add_str(doc, root, "version", PAWL_VERSION);
    yyjson_mut_obj_add_str(doc, root, "library", pawl_version());
    yyjson_mut_obj_add_uint(doc, root, "abi", PAWL_ABI);
    yyjson_mut_obj_add_str(doc, root, "compiler", COMPILER);
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, "drivers");
    for (size_t i = 0; i < LIBRARY_COUNT; i++)
        if (i == 0 || strcmp(libraries[i].module, libraries[i - 1].module) != 0)
            add_driver(doc, list, libraries[i].module);
    return pawl__json_print(doc, stdout);
}

int pawl__version_verb(const pawl__verb *verb, int count, char **words)
{
    verb_fields fields = {false};
    pawl_error  error  = PAWL_ERROR_INIT;
    pawl_code   code   = pawl__verb_parse(verb, count, words, &fields, &error);
    if (code == PAWL_OK && fields.is_json)
        code = print_json();
    else if (code == PAWL_OK)
        printf("pawl %s (library %s, ABI %u)\n", PAWL_VERSION, pawl_version(), PAWL_ABI);
    return pawl__fail(code, &error);
}
