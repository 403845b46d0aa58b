/* code.c - the texts and retry classes of codes, and the functions that set and wrap a pawl_error.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/base.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

typedef struct code_row {
    pawl_code   code;
    pawl_retry  retry;
    int         exit_code;
    const char *name;
    const char *text;
} code_row;

static const code_row code_rows[] = {
#define CODE_ROW(symbol, number, retry, exit_code, text) \
    {PAWL_##symbol, PAWL_RETRY_##retry, exit_code, #symbol, text},
    PAWL_CODES(CODE_ROW)
#undef CODE_ROW
};

static const code_row *find_row(pawl_code code)
{
    for (size_t i = 0; i < sizeof code_rows / sizeof code_rows[0]; i++)
        if (code_rows[i].code == code)
            return &code_rows[i];
    return NULL;
}

const char *pawl_code_name(pawl_code code)
{
    const code_row *row = find_row(code);
    return row != NULL ? row->name : "?";
}

const char *pawl_code_text(pawl_code code)
{
    const code_row *row = find_row(code);
    return row != NULL ? row->text : "unknown code";
}

pawl_retry pawl_code_retry(pawl_code code)
{
    const code_row *row = find_row(code);
    return row != NULL ? row->retry : PAWL_RETRY_NEVER;
}

int pawl_code_exit(pawl_code code)
{
    const code_row *row = find_row(code);
    return row != NULL ? row->exit_code : 70;
}

pawl_code pawl_error_setv(pawl_error *error, pawl_code code, const char *format, va_list arguments)
{
    if (error == NULL)
        return code;
    error->code = code;
    int size    = vsnprintf(error->text, sizeof error->text, format, arguments);
    if (size < 0)
        error->text[0] = '\0';
    else if ((size_t)size >= sizeof error->text)
        pawl__text_end_cut(error->text, sizeof error->text);
    return code;
}

pawl_code pawl_error_set(pawl_error *error, pawl_code code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pawl_error_setv(error, code, format, arguments);
    va_end(arguments);
    return code;
}

pawl_code pawl_error_wrap(pawl_error *error, pawl_code code, const char *format, ...)
{
    if (error == NULL)
        return code;
    pawl_error inner = *error;
    va_list    arguments;
    va_start(arguments, format);
    pawl_error_setv(error, code, format, arguments);
    va_end(arguments);
    size_t used = strlen(error->text);
    size_t room = sizeof error->text - used;
    if (inner.text[0] == '\0')
        snprintf(inner.text, sizeof inner.text, "%s", pawl_code_text(code));
    int size = snprintf(error->text + used, room, ": %s", inner.text);
    if (size >= 0 && (size_t)size >= room)
        pawl__text_end_cut(error->text, sizeof error->text);
    return code;
}
