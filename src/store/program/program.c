/* program.c - the registry of process objects, the lock file, claims.
 *
 * The lock is of the open file description (F_OFD_SETLK): unlike a plain one it is not lost when some other part of
 * the program opens and closes the same file. It would be inherited by a child and outlive its owner there, so a child
 * closes it at fork.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/program/program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_TRIES_MAX 8 /* random numbers that all are taken mean something else is wrong */

/* A handle that claims from a queue. */
typedef struct user {
    struct user *next;
    const void  *owner;
} user;

typedef struct queue {
    struct queue *next;
    user         *users;
    pawl_text     name;
} queue;

/* Which handle is which worker's. */
typedef struct attached {
    struct attached *next;
    pawl_uuid        worker;
    const void      *owner;
} attached;

struct pawl__claim_table {
    pawl__claim_table *next;
    pawl__program     *program;
    queue             *queues;
    attached          *workers;
    pawl__claims       claims;
    uint64_t           ended; /* claims that ended so far */
    char               prefix[];
};

struct pawl__program {
    pawl__program     *next;
    dev_t              device;
    ino_t              inode;
    unsigned           users; /* handles; guarded by the registry's mutex */
    int                lock_file;
    int64_t            number;
    pthread_mutex_t    mutex; /* guards the claim_tables */
    pawl__claim_table *claim_tables;
};

struct pawl__program_file {
    pawl__program_file *next;
    dev_t               device;
    ino_t               inode;
    pid_t               pid;
};

_Static_assert(sizeof(off_t) == 8,
               "-D_FILE_OFFSET_BITS=64 is missing: the kernel refuses the locks");

static pthread_mutex_t     registry_mutex = PTHREAD_MUTEX_INITIALIZER;
static pawl__program      *registry;
static pawl__program_file *files;
static pthread_once_t      fork_once = PTHREAD_ONCE_INIT;

/* Runs in the child, where only calls that are safe in a signal handler are
 * allowed; the objects stay, as handles still point to them. The child may open other files under the numbers. */
static void close_in_child(void)
{
    for (pawl__program *program = registry; program != NULL; program = program->next) {
        if (program->lock_file >= 0)
            close(program->lock_file);
        program->lock_file = -1;
    }
}

static void register_fork(void)
{
    (void)pthread_atfork(NULL, NULL, close_in_child);
}

/* ---- The lock file ------------------------------------------------------ */

/* Gives a new lock file the owner and mode of the database. Not an old one: it may be a link to any file. */
static void share_file(const char *path, int file)
{
    struct stat wanted, made;
    if (stat(path, &wanted) != 0 || fstat(file, &made) != 0)
        return;
    if (made.st_uid != wanted.st_uid || made.st_gid != wanted.st_gid)
        (void)!fchown(file, wanted.st_uid, wanted.st_gid);
    if (((made.st_mode ^ wanted.st_mode) & 0666) != 0)
        (void)fchmod(file, wanted.st_mode & 0666);
}

typedef struct lock_name {
    char text[PATH_MAX + 8];
} lock_name;

static pawl_code name_of(const char *path, lock_name *name, pawl_error *error)
{
    if (snprintf(name->text, sizeof name->text, "%s-pawl", path) < (int)sizeof name->text)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_EUNREACHABLE, "the path has %zu bytes, limit %d",
                          strlen(path), PATH_MAX);
}

/* O_NONBLOCK: the open of a pipe would wait for its other end. */
static pawl_code open_lock_file(const char *path, int flags, int *file, pawl_error *error)
{
    lock_name   name;
    struct stat it   = {0};
    pawl_code   code = name_of(path, &name, error);
    if (code != PAWL_OK)
        return code;
    bool is_new = (flags & O_CREAT) != 0;
    flags |= O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    *file = open(name.text, is_new ? flags | O_EXCL : flags, 0666);
    if (*file < 0 && is_new && errno == EEXIST) {
        is_new = false;
        *file  = open(name.text, flags & ~O_CREAT);
    }
    if (*file < 0 && errno == ENOENT)
        return PAWL_OK;
    bool is_link = *file < 0 && errno == ELOOP;
    if (*file < 0 && !is_link)
        return pawl_error_set(
            error, PAWL_EUNREACHABLE, "%s: %s%s", name.text, strerror(errno),
            errno == EACCES ? "; it must have the owner and the mode of the database" : "");
    if (is_link || fstat(*file, &it) != 0 || !S_ISREG(it.st_mode) || it.st_nlink > 1) {
        if (*file >= 0)
            close(*file);
        *file = -1;
        return pawl_error_set(error, PAWL_EUNREACHABLE,
                              "%s: it is %s; pawl makes a file there: remove this one", name.text,
                              is_link               ? "a symbolic link"
                              : S_ISREG(it.st_mode) ? "a file with several names (hard links)"
                                                    : "no regular file");
    }
    if (is_new)
        share_file(path, *file);
    return PAWL_OK;
}

static struct flock one_byte(short type, int64_t number)
{
    return (struct flock){
        .l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)number, .l_len = 1};
}

/* Draws a number and locks its byte. */
static pawl_code take_number(pawl__program *program, const char *path, pawl_error *error)
{
    for (int i = 0; i < LOCK_TRIES_MAX; i++) {
        uint64_t drawn = 0;
        if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn)
            break;
        program->number   = (int64_t)(drawn >> 2) | 1;
        struct flock lock = one_byte(F_WRLCK, program->number);
        if (fcntl(program->lock_file, F_OFD_SETLK, &lock) == 0)
            return PAWL_OK;
        if (errno != EAGAIN && errno != EACCES)
            break;
    }
    return pawl_error_set(error, PAWL_EUNREACHABLE, "%s-pawl: cannot lock: %s", path,
                          strerror(errno));
}

static pawl_code is_locked(int file, int64_t number, const char *path, bool *is_alive,
                           pawl_error *error)
{
    struct flock lock = one_byte(F_WRLCK, number);
    if (fcntl(file, F_OFD_GETLK, &lock) != 0)
        return pawl_error_set(error, PAWL_EPERSIST, "%s-pawl: cannot read locks: %s", path,
                              strerror(errno));
    *is_alive = lock.l_type != F_UNLCK;
    return PAWL_OK;
}

/* Processes with different lock files take each other for dead. If the file was deleted or replaced, the number is locked in
 * the new file, too. */
static pawl_code follow(pawl__program *program, const char *path, pawl_error *error)
{
    struct stat  ours, there;
    lock_name    name;
    struct flock lock   = one_byte(F_WRLCK, program->number);
    int          before = program->lock_file, file = -1;
    pawl_code    code = name_of(path, &name, error);
    if (code != PAWL_OK || before < 0 || fstat(before, &ours) != 0 ||
        (stat(name.text, &there) == 0 && there.st_dev == ours.st_dev &&
         there.st_ino == ours.st_ino))
        return code;
    code = open_lock_file(path, O_RDWR | O_CREAT, &file, error);
    if (code != PAWL_OK)
        return code;
    if (file < 0 || fcntl(file, F_OFD_SETLK, &lock) != 0) {
        code = pawl_error_set(error, PAWL_EUNREACHABLE, "%s: cannot lock: %s", name.text,
                              strerror(errno));
        if (file >= 0)
            close(file);
        return code;
    }
    program->lock_file = file;
    close(before);
    return PAWL_OK;
}

pawl_code pawl__program_follow_file(pawl__program *program, const char *path, pawl_error *error)
{
    if (program == NULL)
        return PAWL_OK;
    pthread_mutex_lock(&program->mutex);
    pawl_code code = follow(program, path, error);
    pthread_mutex_unlock(&program->mutex);
    return code;
}

static pawl_code ask_process(pawl__program *program, const char *path, int64_t number,
                             bool *is_alive, pawl_error *error)
{
    pthread_mutex_lock(&program->mutex);
    pawl_code code = is_locked(program->lock_file, number, path, is_alive, error);
    pthread_mutex_unlock(&program->mutex);
    return code;
}

pawl_code pawl__program_alive(pawl__program *program, const char *path, int64_t number,
                              bool *is_alive, pawl_error *error)
{
    *is_alive = program != NULL && number == program->number;
    if (*is_alive || number == 0)
        return PAWL_OK;
    if (program != NULL)
        return ask_process(program, path, number, is_alive, error);
    int       file = -1;
    pawl_code code = open_lock_file(path, O_RDONLY, &file, error);
    if (code == PAWL_OK && file >= 0)
        code = is_locked(file, number, path, is_alive, error);
    if (file >= 0)
        close(file);
    return code;
}

/* ---- Objects ------------------------------------------------------------ */

static pawl_code create(const char *path, dev_t device, ino_t inode, pawl__program **program,
                        pawl_error *error)
{
    pawl__program *made = pawl_allocate(sizeof *made);
    if (made == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    made->device    = device;
    made->inode     = inode;
    made->lock_file = -1;
    pawl_code code  = open_lock_file(path, O_RDWR | O_CREAT, &made->lock_file, error);
    if (code == PAWL_OK && made->lock_file < 0)
        code = pawl_error_set(error, PAWL_EUNREACHABLE, "%s-pawl: %s", path, strerror(errno));
    if (code == PAWL_OK)
        code = take_number(made, path, error);
    if (code != PAWL_OK) {
        if (made->lock_file >= 0)
            close(made->lock_file);
        pawl_free(made);
        return code;
    }
    (void)pthread_mutex_init(&made->mutex, NULL);
    *program = made;
    return PAWL_OK;
}

pawl_code pawl__program_join(const char *path, dev_t device, ino_t inode, pawl__program **program,
                             pawl_error *error)
{
    (void)pthread_once(&fork_once, register_fork);
    pthread_mutex_lock(&registry_mutex);
    pawl__program *found = registry;
    while (found != NULL && (found->device != device || found->inode != inode))
        found = found->next;
    pawl_code code = PAWL_OK;
    if (found == NULL) {
        code = create(path, device, inode, &found, error);
        if (code == PAWL_OK) {
            found->next = registry;
            registry    = found;
        }
    }
    if (code == PAWL_OK) {
        found->users++;
        *program = found;
    }
    pthread_mutex_unlock(&registry_mutex);
    return code;
}

static void free_users(queue *it)
{
    while (it->users != NULL) {
        user *first = it->users;
        it->users   = first->next;
        pawl_free(first);
    }
}

static void destroy(pawl__program *program)
{
    while (program->claim_tables != NULL) {
        pawl__claim_table *table = program->claim_tables;
        program->claim_tables    = table->next;
        while (table->queues != NULL) {
            queue *it     = table->queues;
            table->queues = it->next;
            free_users(it);
            pawl_free(it);
        }
        while (table->workers != NULL) {
            attached *first = table->workers;
            table->workers  = first->next;
            pawl_free(first);
        }
        pawl__claims_free(&table->claims);
        pawl_free(table);
    }
    if (program->lock_file >= 0)
        close(program->lock_file);
    (void)pthread_mutex_destroy(&program->mutex);
    pawl_free(program);
}

void pawl__program_leave(pawl__program *program)
{
    if (program == NULL)
        return;
    pthread_mutex_lock(&registry_mutex);
    if (--program->users == 0) {
        pawl__program **link = &registry;
        while (*link != program)
            link = &(*link)->next;
        *link = program->next;
        destroy(program);
    }
    pthread_mutex_unlock(&registry_mutex);
}

int64_t pawl__program_number(const pawl__program *program)
{
    return program->number;
}

pawl__claim_table *pawl__program_claim_table(pawl__program *program, const char *prefix)
{
    pthread_mutex_lock(&program->mutex);
    pawl__claim_table *table = program->claim_tables;
    while (table != NULL && strcmp(table->prefix, prefix) != 0)
        table = table->next;
    size_t size = strlen(prefix) + 1;
    if (table == NULL && (table = pawl_allocate(sizeof *table + size)) != NULL) {
        memcpy(table->prefix, prefix, size);
        table->program        = program;
        table->next           = program->claim_tables;
        program->claim_tables = table;
    }
    pthread_mutex_unlock(&program->mutex);
    return table;
}

/* ---- Files -------------------------------------------------------------- */

pawl__program_file *pawl__program_file_enter(dev_t device, ino_t inode)
{
    pawl__program_file *made = pawl_allocate(sizeof *made);
    if (made == NULL)
        return NULL;
    pthread_mutex_lock(&registry_mutex);
    *made = (pawl__program_file){files, device, inode, getpid()};
    files = made;
    pthread_mutex_unlock(&registry_mutex);
    return made;
}

void pawl__program_file_leave(pawl__program_file *file)
{
    if (file == NULL)
        return;
    pthread_mutex_lock(&registry_mutex);
    pawl__program_file **link = &files;
    while (*link != file)
        link = &(*link)->next;
    *link = file->next;
    pthread_mutex_unlock(&registry_mutex);
    pawl_free(file);
}

pid_t pawl__program_file_inherited(dev_t device, ino_t inode)
{
    pid_t own = getpid(), found = 0;
    pthread_mutex_lock(&registry_mutex);
    for (const pawl__program_file *file = files; file != NULL && found == 0; file = file->next)
        if (file->pid != own && file->device == device && file->inode == inode)
            found = file->pid;
    pthread_mutex_unlock(&registry_mutex);
    return found;
}

/* ---- Queues ------------------------------------------------------------- */

static queue *find_or_add(pawl__claim_table *table, pawl_text name)
{
    queue *it = table->queues;
    while (it != NULL && !pawl_text_equal(it->name, name))
        it = it->next;
    if (it == NULL && (it = pawl_allocate(sizeof *it + name.size + 1)) != NULL) {
        char *text = (char *)(it + 1);
        memcpy(text, name.data, name.size);
        it->name      = (pawl_text){.data = text, .size = name.size};
        it->next      = table->queues;
        table->queues = it;
    }
    return it;
}

static user **find_user(queue *it, const void *owner)
{
    user **link = &it->users;
    while (*link != NULL && (*link)->owner != owner)
        link = &(*link)->next;
    return link;
}

pawl_code pawl__claim_table_queue_enter(pawl__claim_table *table, pawl_text name, const void *owner)
{
    pawl_code code = PAWL_OK;
    user     *made = NULL;
    pthread_mutex_lock(&table->program->mutex);
    queue *it = find_or_add(table, name);
    if (it != NULL && *find_user(it, owner) == NULL &&
        (made = pawl_allocate(sizeof *made)) != NULL) {
        *made     = (user){it->users, owner};
        it->users = made;
    }
    if (it == NULL || *find_user(it, owner) == NULL)
        code = PAWL_ENOMEM;
    pthread_mutex_unlock(&table->program->mutex);
    return code;
}

bool pawl__claim_table_queue_leave(pawl__claim_table *table, const void *owner, pawl_text *name,
                                   bool *is_last)
{
    user *left = NULL;
    pthread_mutex_lock(&table->program->mutex);
    for (queue *it = table->queues; left == NULL && it != NULL; it = it->next) {
        user **link = find_user(it, owner);
        if ((left = *link) == NULL)
            continue;
        *link    = left->next;
        *name    = it->name;
        *is_last = it->users == NULL;
    }
    pthread_mutex_unlock(&table->program->mutex);
    pawl_free(left);
    return left != NULL;
}

/* ---- Workers ------------------------------------------------------------ */

static attached **find_attached(pawl__claim_table *table, const void *owner)
{
    attached **link = &table->workers;
    while (*link != NULL && (*link)->owner != owner)
        link = &(*link)->next;
    return link;
}

pawl_code pawl__claim_table_attach(pawl__claim_table *table, pawl_uuid worker, const void *owner)
{
    pawl_code code = PAWL_OK;
    pthread_mutex_lock(&table->program->mutex);
    attached *it = *find_attached(table, owner);
    if (it == NULL && (it = pawl_allocate(sizeof *it)) != NULL) {
        it->next       = table->workers;
        table->workers = it;
    }
    if (it != NULL) {
        it->worker = worker;
        it->owner  = owner;
    } else {
        code = PAWL_ENOMEM;
    }
    pthread_mutex_unlock(&table->program->mutex);
    return code;
}

void pawl__claim_table_detach(pawl__claim_table *table, const void *owner)
{
    pthread_mutex_lock(&table->program->mutex);
    attached **link = find_attached(table, owner);
    attached  *left = *link;
    if (left != NULL)
        *link = left->next;
    pthread_mutex_unlock(&table->program->mutex);
    pawl_free(left);
}

/* Another handle that is the worker, or NULL. */
static const void *find_other(const pawl__claim_table *table, pawl_uuid worker, const void *owner)
{
    for (const attached *it = table->workers; it != NULL; it = it->next)
        if (it->owner != owner && pawl_uuid_compare(it->worker, worker) == 0)
            return it->owner;
    return NULL;
}

void pawl__claim_table_take_over(pawl__claim_table *table, pawl_uuid worker, const void *owner)
{
    pthread_mutex_lock(&table->program->mutex);
    const void *other = find_other(table, worker, owner);
    if (other != NULL) {
        pawl__claims_remove_owner(&table->claims, other);
        table->ended++;
    }
    for (queue *it = table->queues; other != NULL && it != NULL; it = it->next)
        for (user *left; (left = *find_user(it, other)) != NULL;)
            left->owner = owner;
    pthread_mutex_unlock(&table->program->mutex);
}

/* ---- Claims ------------------------------------------------------------- */

pawl_code pawl__claim_table_claim(pawl__claim_table *table, int64_t seq, const void *owner,
                                  int64_t epoch)
{
    pthread_mutex_lock(&table->program->mutex);
    pawl__claim_row *row  = pawl__claims_find(&table->claims, seq);
    pawl_code        code = PAWL_OK;
    if (row == NULL)
        code = pawl__claims_add(&table->claims, seq, owner, epoch);
    else if (row->owner == owner)
        row->epoch = epoch;
    else
        code = PAWL_EGONE;
    pthread_mutex_unlock(&table->program->mutex);
    return code;
}

bool pawl__claim_table_is_free(pawl__claim_table *table, int64_t seq)
{
    pthread_mutex_lock(&table->program->mutex);
    bool is_free = pawl__claims_find(&table->claims, seq) == NULL;
    pthread_mutex_unlock(&table->program->mutex);
    return is_free;
}

int64_t pawl__claim_table_epoch(pawl__claim_table *table, int64_t seq, const void *owner)
{
    pthread_mutex_lock(&table->program->mutex);
    pawl__claim_row *row   = pawl__claims_find(&table->claims, seq);
    int64_t          epoch = row != NULL && row->owner == owner ? row->epoch : 0;
    pthread_mutex_unlock(&table->program->mutex);
    return epoch;
}

void pawl__claim_table_end(pawl__claim_table *table, int64_t seq, const void *owner)
{
    pthread_mutex_lock(&table->program->mutex);
    pawl__claim_row *row = pawl__claims_find(&table->claims, seq);
    if (row != NULL && row->owner == owner)
        pawl__claims_remove(&table->claims, seq);
    table->ended++;
    pthread_mutex_unlock(&table->program->mutex);
}

void pawl__claim_table_end_all(pawl__claim_table *table, const void *owner)
{
    pthread_mutex_lock(&table->program->mutex);
    pawl__claims_remove_owner(&table->claims, owner);
    table->ended++;
    pthread_mutex_unlock(&table->program->mutex);
}

uint64_t pawl__claim_table_ended_count(pawl__claim_table *table)
{
    pthread_mutex_lock(&table->program->mutex);
    uint64_t ended = table->ended;
    pthread_mutex_unlock(&table->program->mutex);
    return ended;
}
