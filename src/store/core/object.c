/* object.c - small objects of texts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/object.h"

static void *json_take(void *context, size_t size)
{
    (void)context;
    return pawl_resize(NULL, size);
}

static void *json_resize(void *context, void *memory, size_t old_size, size_t size)
{
    (void)context;
    (void)old_size;
    return pawl_resize(memory, size);
}

static void json_free(void *context, void *memory)
{
    (void)context;
    pawl_free(memory);
}

static const yyjson_alc json_memory = {json_take, json_resize, json_free, NULL};

yyjson_mut_doc *pawl__object_begin(void)
{
    yyjson_mut_doc *doc  = yyjson_mut_doc_new(&json_memory);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    if (root != NULL)
        yyjson_mut_doc_set_root(doc, root);
    else
        yyjson_mut_doc_free(doc);
    return root != NULL ? doc : NULL;
}

bool pawl__object_put(yyjson_mut_doc *doc, const char *key, pawl_text text)
{
    return yyjson_mut_obj_add_strncpy(doc, yyjson_mut_doc_get_root(doc), key,
                                      text.data != NULL ? text.data : "", text.size);
}

bool pawl__object_put_number(yyjson_mut_doc *doc, const char *key, int64_t number)
{
    return yyjson_mut_obj_add_sint(doc, yyjson_mut_doc_get_root(doc), key, number);
}

pawl_text pawl__object_write(yyjson_mut_doc *doc, pawl_arena *arena)
{
    pawl_text written = {0};
    size_t    size    = 0;
    char     *text =
        yyjson_mut_write_opts(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &json_memory, &size, NULL);
    if (text != NULL)
        written = pawl_arena_text(arena, (pawl_text){.data = text, .size = size});
    pawl_free(text);
    return written;
}

yyjson_doc *pawl__object_read(pawl_text text)
{
    return yyjson_read_opts((char *)(uintptr_t)text.data, text.size, YYJSON_READ_NOFLAG,
                            &json_memory, NULL);
}

pawl_text pawl__object_text(yyjson_val *object, const char *key, pawl_arena *arena)
{
    yyjson_val *value = yyjson_obj_get(object, key);
    const char *text  = yyjson_get_str(value);
    return text == NULL
               ? (pawl_text){0}
               : pawl_arena_text(arena, (pawl_text){.data = text, .size = yyjson_get_len(value)});
}
