/* users.c - the users of the console: reads names and password hashes from a file, and checks passwords.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/calm.h"
#include "cli/console/console.h"

#include <crypt.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define FAILURE_DELAY \
    PAWL_MILLISECONDS(300) /* between answers to wrong passwords, so that few can be tried */

/* Hashes are computed one at a time: each takes a processor and many megabytes. */
static pthread_mutex_t hashing = PTHREAD_MUTEX_INITIALIZER;

static pawl_code refuse_line(const char *path, size_t line, const char *why, pawl_error *error)
{
    return pawl_error_set(error, PAWL_EINPUT,
                          "%s: line %zu: %s; expected NAME:HASH or NAME:HASH:write", path, line,
                          why);
}

bool pawl__console_name_is_well(const char *name)
{
    size_t at, size = strlen(name);
    bool   is_well =
        size > 0 && size < PAWL__ASKER_SIZE && pawl_text_is_valid(pawl_text_of(name), &at);
    uint32_t point;
    for (size_t i = 0; is_well && i < size;
         i++) /* any byte: no unruly character begins inside another */
        is_well = pawl__unruly_size((const unsigned char *)name + i, size - i, &point) == 0;
    return is_well;
}

/* `line` is cut at its colons. */
static pawl_code read_line(pawl__console_users *users, char *line, const char *path, size_t number,
                           pawl_error *error)
{
    char *hash = strchr(line, ':');
    if (hash == NULL || hash == line)
        return refuse_line(path, number, "no name and colon", error);
    *hash++     = '\0';
    char *right = strchr(hash, ':');
    if (right != NULL)
        *right++ = '\0';
    if (hash[0] != '$')
        return refuse_line(path, number, "the hash does not begin with $, as those of mkpasswd do",
                           error);
    size_t size = strlen(right != NULL ? right : hash); /* lines may end with CR LF */
    if (size > 0 && (right != NULL ? right : hash)[size - 1] == '\r')
        (right != NULL ? right : hash)[size - 1] = '\0';
    if (right != NULL && strcmp(right, "write") != 0)
        return refuse_line(path, number, "the third part is not 'write'", error);
    if (!pawl__console_name_is_well(line))
        return refuse_line(path, number, "the name is too long, or has bytes that are not text",
                           error);
    for (size_t i = 0; i < users->count; i++)
        if (strcmp(users->items[i].name, line) == 0)
            return refuse_line(path, number, "the name is there twice", error);
    if (users->count == PAWL__CONSOLE_USERS_MAX)
        return pawl_error_set(error, PAWL_ELIMIT, "%s: more than %d users", path,
                              PAWL__CONSOLE_USERS_MAX);
    users->items[users->count++] = (pawl__console_user){line, hash, right != NULL};
    return PAWL_OK;
}

/* Refuses a file that others may read: passwords can be guessed from the hashes. */
static pawl_code check_rights(const char *path, pawl_error *error)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return pawl_error_set(error, PAWL_EINPUT, "cannot read %s: %s", path, strerror(errno));
    if ((status.st_mode & (S_IROTH | S_IWOTH)) != 0)
        return pawl_error_set(error, PAWL_EINPUT,
                              "%s: every user of this machine may read or write it: chmod o= %s",
                              path, path);
    return PAWL_OK;
}

pawl_code pawl__console_users_read(const char *path, pawl__console_users *users, pawl_error *error)
{
    pawl__input input = {.file = NULL};
    pawl_text   read  = {0};
    pawl_code   code  = check_rights(path, error);
    if (code == PAWL_OK)
        code = pawl__input_open(&input, path, error);
    if (code != PAWL_OK)
        return code;
    code       = pawl__input_all(&input, &read, error);
    char *text = code == PAWL_OK ? pawl_allocate(read.size + 1) : NULL;
    if (text != NULL)
        memcpy(text, read.data, read.size);
    pawl__input_close(&input);
    if (code == PAWL_OK && text == NULL)
        code = pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    users->text   = (pawl_text){.data = text, .size = read.size};
    size_t number = 1;
    for (char *line = text, *end; code == PAWL_OK && line != NULL; line = end, number++) {
        end = strchr(line, '\n');
        if (end != NULL)
            *end++ = '\0';
        if (line[strspn(line, "\r")] != '\0' && line[0] != '#')
            code = read_line(users, line, path, number, error);
    }
    if (code == PAWL_OK && users->count == 0)
        code = pawl_error_set(error, PAWL_EINPUT, "%s: it has no user", path);
    return code;
}

void pawl__console_users_free(pawl__console_users *users)
{
    pawl_free((char *)(uintptr_t)users->text.data);
    users->text  = (pawl_text){0};
    users->count = 0;
}

/* Compares all bytes, so that the time does not depend on the first difference. */
static bool is_same(const char *left, const char *right)
{
    size_t   size  = strlen(left);
    unsigned apart = size != strlen(right);
    for (size_t i = 0; apart == 0 && i < size; i++)
        apart |= (unsigned)(left[i] ^ right[i]);
    return apart == 0;
}

const pawl__console_user *pawl__console_users_find(const pawl__console_users *users,
                                                   const char *name, const char *password)
{
    const pawl__console_user *found = NULL;
    struct crypt_data        *data  = pawl_allocate(sizeof *data);
    for (size_t i = 0; i < users->count; i++)
        if (strcmp(users->items[i].name, name) == 0)
            found = &users->items[i];
    pthread_mutex_lock(&hashing);
    const char *hash =
        data == NULL ? NULL
                     : crypt_r(password, (found != NULL ? found : &users->items[0])->hash, data);
    pthread_mutex_unlock(&hashing);
    if (hash == NULL || found == NULL || !is_same(hash, found->hash))
        found = NULL;
    if (data != NULL)
        explicit_bzero(data, sizeof *data);
    pawl_free(data);
    return found;
}

void pawl__console_users_delay(pawl__console *console)
{
    int64_t now = pawl__steady_now();
    pthread_mutex_lock(&console->mutex);
    int64_t due = (now > console->failure_due ? now : console->failure_due) + FAILURE_DELAY;
    console->failure_due = due;
    while (pawl__console_wait(console, &console->is_news, due))
        continue;
    pthread_mutex_unlock(&console->mutex);
}
