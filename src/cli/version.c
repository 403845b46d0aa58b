/* version.c - `pawl version`: the version of the command, and of the library that it found.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/cli.h"

typedef struct verb_fields {
    bool is_json;
} verb_fields;

const pawl__argument pawl__version_verb_arguments[] = {{.name = NULL}};
const pawl__option   pawl__version_verb_options[]   = {
        {.name   = "json",
         .kind   = PAWL__OPTION_FLAG,
         .offset = offsetof(verb_fields, is_json),
         .help   = "print one JSON object"},
        {.name = NULL},
};

const pawl__report pawl__version_verb_reports[] = {
    {"the object", NULL, "version library abi"},
    {.what = NULL},
};

static pawl_code print_json(pawl_error *error)
{
    yyjson_mut_doc *doc = pawl__json_create();
    if (doc != NULL) {
        yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
        yyjson_mut_obj_add_str(doc, root, "version", PAWL_VERSION);
        yyjson_mut_obj_add_str(doc, root, "library", pawl_version());
        yyjson_mut_obj_add_uint(doc, root, "abi", PAWL_ABI);
    }
    return pawl__json_print(doc, stdout, error);
}

int pawl__version_verb(const pawl__verb *verb, int count, char **words)
{
    verb_fields fields = {false};
    pawl_error  error  = PAWL_ERROR_INIT;
    pawl_code   code = pawl__options_parse(verb->name, verb->arguments, verb->options, count, words,
                                           &fields, &error);
    if (code == PAWL_OK && fields.is_json)
        code = print_json(&error);
    else if (code == PAWL_OK)
        printf("pawl %s (library %s, ABI %u)\n", PAWL_VERSION, pawl_version(), PAWL_ABI);
    return pawl__fail(code, &error);
}
