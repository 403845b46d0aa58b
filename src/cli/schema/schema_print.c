/* schema_print.c - `pawl schema print`: scripts of every dialect, without a driver.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/schema/schema.h"

#include "store/sql/script.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_SIZE 4096 /* the system's own limit of a path */

void pawl__schema_line(pawl_text line, void *context)
{
    fprintf(context, "%.*s\n", PAWL_TEXT_ARGS(line));
}

/* ---- What is asked for --------------------------------------------------- */

static pawl_code only_for_dialects(const pawl__schema_fields *fields, pawl_error *error)
{
    const char *name = fields->schema != NULL   ? "schema"
                       : fields->rights != NULL ? "rights"
                       : fields->folder != NULL ? "files"
                       : fields->kinds != NULL  ? "kind"
                                                : NULL;
    char        hint[300];
    if (name == NULL)
        return PAWL_OK;
    pawl__suggest("", "", pawl__sql_dialect_names, hint, sizeof hint);
    return pawl_error_set(error, PAWL_EINVAL, "--%s: this store's driver prints its script whole%s",
                          name, hint);
}

/* ---- Files --------------------------------------------------------------- */

static pawl_code failed(const char *doing, const char *path, pawl_error *error)
{
    int reason = errno;
    return pawl_error_set(error, reason == ENOSPC ? PAWL_EFULL : PAWL_EINPUT, "%s %s: %s", doing,
                          path, strerror(reason));
}

static pawl_code make_folder(const char *path, pawl_error *error)
{
    return mkdir(path, 0755) == 0 || errno == EEXIST ? PAWL_OK : failed("make folder", path, error);
}

static pawl_code write_file(const pawl__sql_script *script, const char *path, pawl_error *error)
{
    pawl__part part;
    pawl_code  code = pawl__part_open(&part, path, error);
    if (code == PAWL_OK)
        code = pawl__part_end(&part, path,
                              pawl__sql_script_print(script, pawl__schema_line, part.file, error),
                              error);
    return code;
}

/* The files of one folder. */
static pawl_code write_files(const pawl__sql_script *script, const char *folder, size_t *count,
                             pawl_error *error)
{
    char             path[PATH_SIZE];
    char             name[PAWL__SQL_PIECE_NAME_SIZE];
    pawl__sql_script piece;
    const char      *kind = script->is_drop ? "drop" : "create";
    int              size = snprintf(path, sizeof path, "%s/%s", folder, kind);
    if (size < 0 || (size_t)size + PAWL__SQL_PIECE_NAME_SIZE + 2 > sizeof path)
        return pawl_error_set(error, PAWL_ELIMIT, "--files: the path has %zu bytes, limit %zu",
                              strlen(folder), sizeof path - PAWL__SQL_PIECE_NAME_SIZE - 10);
    pawl_code code = make_folder(folder, error);
    if (code == PAWL_OK)
        code = make_folder(path, error);
    for (size_t i = 0; code == PAWL_OK && pawl__sql_script_piece(script, i, &piece, name); i++) {
        snprintf(path + size, sizeof path - (size_t)size, "/%s", name);
        code = write_file(&piece, path, error);
        *count += code == PAWL_OK;
    }
    return code;
}

static pawl_code print_files(const pawl__schema_fields *fields, pawl__sql_script *script,
                             pawl_error *error)
{
    size_t count = 0;
    if (fields->is_drop)
        return pawl_error_set(error, PAWL_EINVAL,
                              "--files writes the files that drop as well: leave --drop away");
    pawl_code code = pawl__sql_script_check(script, error);
    if (code == PAWL_OK)
        code = write_files(script, fields->folder, &count, error);
    script->is_drop = true;
    if (code == PAWL_OK)
        code = write_files(script, fields->folder, &count, error);
    if (code == PAWL_OK)
        fprintf(stderr, "pawl: %s: %zu files\n", fields->folder, count);
    return code;
}

/* ---- Rights -------------------------------------------------------------- */

static pawl_code print_rights(const pawl__schema_fields *fields, const pawl__sql_script *script,
                              pawl_error *error)
{
    if (fields->rights == NULL || fields->to == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "--rights ROLE and --to NAME go together");
    if (fields->is_drop || fields->folder != NULL || fields->kinds != NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "--rights prints one script: leave --drop, --files and --kind away");
    return pawl__sql_rights_print(script, fields->rights, fields->to, pawl__schema_line, stdout,
                                  error);
}

/* ---- The verb ------------------------------------------------------------ */

pawl_code pawl__schema_print(const pawl__schema_fields *fields, const pawl_schema_spec *spec,
                             bool *is_printed, pawl_error *error)
{
    pawl_text        name   = {.data = fields->at.store, .size = strcspn(fields->at.store, ":")};
    pawl__sql_script script = {.dialect = pawl__sql_dialect_find(name),
                               .prefix =
                                   spec->system_prefix != NULL ? spec->system_prefix : "pawl_",
                               .schema = fields->schema,
                               .kinds = pawl__choices_of(pawl__sql_table_kind_names, fields->kinds),
                               .sagas = spec->tables,
                               .saga_count = spec->table_count,
                               .is_drop    = spec->is_drop};
    *is_printed             = script.dialect != NULL;
    if (!*is_printed)
        return only_for_dialects(fields, error);
    if (fields->rights != NULL || fields->to != NULL)
        return print_rights(fields, &script, error);
    if (fields->folder != NULL)
        return print_files(fields, &script, error);
    return pawl__sql_script_print(&script, pawl__schema_line, stdout, error);
}
