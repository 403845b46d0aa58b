/* disk.c - a VFS before SQLite's own, with the writes of each file since its last sync.
 *
 * A write has the bytes that were there before and its own. Recovery takes all of them back, the last one first,
 * and writes again what it draws: all, none, a first part, or sectors at random. A file that was made stays, and one
 * that was removed is gone: SQLite syncs the folder where that matters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulation/disk.h"

#include "simulation/machine.h"

#ifdef PAWL_HAVE_SQLITE
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTOR 512
#define FILES_MAX 8
#define NAME_SIZE 120

typedef struct change {
    struct change *before;
    int64_t        size_before, size_behind; /* of the file */
    int64_t        offset;
    int            size;    /* of each of both: what was there, and what is */
    unsigned char  bytes[]; /* none of a truncation but the old ones, which end with the file */
} change;

/* A file of the database, by its name, whether it is open or not. */
typedef struct entry {
    char    name[NAME_SIZE];
    change *last; /* since the last sync */
} entry;

typedef struct disk_file {
    sqlite3_file  base;
    entry        *entry; /* NULL: nobody needs it behind a cut */
    sqlite3_file *real;
} disk_file;

static sqlite3_vfs *under;
static entry        files[FILES_MAX];
static char         folder[NAME_SIZE / 2];
static uint64_t     countdown;
static bool         is_off;

static disk_file *of(sqlite3_file *file)
{
    return (disk_file *)file;
}

static void *take(size_t size)
{
    void *made = malloc(size);
    if (made == NULL)
        abort();
    return made;
}

/* An operation that changes something: does the power go, or is it away? */
static bool tick(void)
{
    if (countdown != 0 && --countdown == 0)
        is_off = true;
    return is_off;
}

/* ---- Changes ---------------------------------------------------------------- */

static void forget(entry *it)
{
    while (it->last != NULL) {
        change *gone = it->last;
        it->last     = gone->before;
        free(gone);
    }
}

static int64_t size_of(disk_file *self)
{
    sqlite3_int64 size = 0;
    (void)self->real->pMethods->xFileSize(self->real, &size);
    return size;
}

static void note(disk_file *self, const void *bytes, int size, int64_t offset, int64_t size_before,
                 int64_t size_behind)
{
    change *made = take(sizeof *made + 2 * (size_t)size);
    *made        = (change){.before      = self->entry->last,
                            .size_before = size_before,
                            .size_behind = size_behind,
                            .offset      = offset,
                            .size        = size};
    memset(made->bytes, 0, (size_t)size);
    (void)self->real->pMethods->xRead(self->real, made->bytes, size, offset); /* short: zeros */
    if (bytes != NULL)
        memcpy(made->bytes + size, bytes, (size_t)size);
    self->entry->last = made;
}

/* ---- Recovery ------------------------------------------------------------------ */

static void put(int fd, const unsigned char *bytes, int size, int64_t offset)
{
    if (size > 0 && pwrite(fd, bytes, (size_t)size, offset) != size)
        abort();
}

static void cut_to(int fd, int64_t size)
{
    if (ftruncate(fd, size) != 0)
        abort();
}

static bool is_truncation(const change *it)
{
    return it->size_behind < it->size_before;
}

static void take_back(int fd, const change *it)
{
    put(fd, it->bytes, it->size, it->offset);
    cut_to(fd, it->size_before);
}

/* `share`: of 16 sectors so many are there. */
static void apply(int fd, const change *it, uint64_t share)
{
    if (is_truncation(it)) {
        if (machine_draw(16) < share)
            cut_to(fd, it->size_behind);
        return;
    }
    for (int at = 0, end; at < it->size; at = end) {
        end = at + SECTOR - (int)((it->offset + at) % SECTOR);
        end = end < it->size ? end : it->size;
        if (machine_draw(16) < share)
            put(fd, it->bytes + it->size + at, end - at, it->offset + at);
    }
}

static void recover(entry *it)
{
    size_t   count = 0, whole;
    change **list;
    for (const change *one = it->last; one != NULL; one = one->before)
        count++;
    if (count == 0)
        return;
    int fd = open(it->name, O_RDWR);
    if (fd < 0)
        abort();
    list = take(count * sizeof *list);
    for (change *one = it->last; one != NULL; one = one->before)
        list[--count] = one;
    for (change *one = it->last; one != NULL; one = one->before, count++)
        take_back(fd, one);
    uint64_t share = machine_draw(3) == 0 ? machine_draw(17) : 0;
    whole          = machine_draw(2) == 0 ? machine_draw(count + 1) : 0;
    for (size_t i = 0; i < count; i++)
        apply(fd, list[i], i < whole ? 16 : i == whole ? machine_draw(17) : share);
    free(list);
    close(fd);
    forget(it);
}

/* ---- Files ------------------------------------------------------------------------ */

static entry *entry_of(const char *name)
{
    entry *empty = NULL;
    for (int i = 0; i < FILES_MAX; i++) {
        if (strcmp(files[i].name, name) == 0)
            return &files[i];
        if (files[i].name[0] == '\0' && empty == NULL)
            empty = &files[i];
    }
    if (empty == NULL || strlen(name) >= NAME_SIZE)
        abort();
    strcpy(empty->name, name);
    return empty;
}

static int x_close(sqlite3_file *file)
{
    return of(file)->real->pMethods->xClose(of(file)->real);
}

static int x_read(sqlite3_file *file, void *bytes, int size, sqlite3_int64 offset)
{
    if (is_off)
        return SQLITE_IOERR_READ;
    return of(file)->real->pMethods->xRead(of(file)->real, bytes, size, offset);
}

static int x_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset)
{
    disk_file *self = of(file);
    if (is_off)
        return SQLITE_IOERR_WRITE;
    int64_t known = size_of(self);
    if (self->entry != NULL)
        note(self, bytes, size, offset, known, offset + size > known ? offset + size : known);
    int result = self->real->pMethods->xWrite(self->real, bytes, size, offset);
    return tick() ? SQLITE_IOERR_WRITE : result;
}

static int x_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    disk_file *self  = of(file);
    int64_t    known = size_of(self);
    if (is_off)
        return SQLITE_IOERR_TRUNCATE;
    if (self->entry != NULL && size < known)
        note(self, NULL, (int)(known - size), size, known, size);
    int result = self->real->pMethods->xTruncate(self->real, size);
    return tick() ? SQLITE_IOERR_TRUNCATE : result;
}

static int x_sync(sqlite3_file *file, int flags)
{
    if (tick())
        return SQLITE_IOERR_FSYNC;
    if (of(file)->entry != NULL)
        forget(of(file)->entry);
    return SQLITE_OK;
}

#define FORWARD(name, PARAMETERS, ARGUMENTS)        \
    static int name PARAMETERS                      \
    {                                               \
        return of(file)->real->pMethods->ARGUMENTS; \
    }
FORWARD(x_file_size, (sqlite3_file * file, sqlite3_int64 *size), xFileSize(of(file)->real, size))
FORWARD(x_lock, (sqlite3_file * file, int level), xLock(of(file)->real, level))
FORWARD(x_unlock, (sqlite3_file * file, int level), xUnlock(of(file)->real, level))
FORWARD(x_reserved, (sqlite3_file * file, int *is_it), xCheckReservedLock(of(file)->real, is_it))
FORWARD(x_control, (sqlite3_file * file, int op, void *at), xFileControl(of(file)->real, op, at))
FORWARD(x_sector_size, (sqlite3_file * file), xSectorSize(of(file)->real))
FORWARD(x_traits, (sqlite3_file * file), xDeviceCharacteristics(of(file)->real))
FORWARD(x_shm_map, (sqlite3_file * file, int region, int size, int extend, void volatile **at),
        xShmMap(of(file)->real, region, size, extend, at))
FORWARD(x_shm_lock, (sqlite3_file * file, int offset, int count, int flags),
        xShmLock(of(file)->real, offset, count, flags))
FORWARD(x_shm_unmap, (sqlite3_file * file, int removes), xShmUnmap(of(file)->real, removes))

static void x_shm_barrier(sqlite3_file *file)
{
    of(file)->real->pMethods->xShmBarrier(of(file)->real);
}

/* Version 2: without a mapping of the file, whose writes nobody would see. */
static const sqlite3_io_methods methods = {.iVersion               = 2,
                                           .xClose                 = x_close,
                                           .xRead                  = x_read,
                                           .xWrite                 = x_write,
                                           .xTruncate              = x_truncate,
                                           .xSync                  = x_sync,
                                           .xFileSize              = x_file_size,
                                           .xLock                  = x_lock,
                                           .xUnlock                = x_unlock,
                                           .xCheckReservedLock     = x_reserved,
                                           .xFileControl           = x_control,
                                           .xSectorSize            = x_sector_size,
                                           .xDeviceCharacteristics = x_traits,
                                           .xShmMap                = x_shm_map,
                                           .xShmLock               = x_shm_lock,
                                           .xShmBarrier            = x_shm_barrier,
                                           .xShmUnmap              = x_shm_unmap};

/* ---- The VFS ------------------------------------------------------------------------- */

static int x_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *got)
{
    disk_file *self = of(file);
    bool       is_kept =
        (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL)) != 0;
    self->base.pMethods = NULL;
    self->real          = (sqlite3_file *)(self + 1);
    self->entry         = is_kept && name != NULL ? entry_of(name) : NULL;
    int result = is_off ? SQLITE_CANTOPEN : under->xOpen(under, name, self->real, flags, got);
    if (result == SQLITE_OK)
        self->base.pMethods = &methods;
    return result;
}

static int x_delete(sqlite3_vfs *vfs, const char *name, int syncs_folder)
{
    if (tick())
        return SQLITE_IOERR_DELETE;
    forget(entry_of(name));
    return under->xDelete(under, name, syncs_folder);
}

/* Once for each run, for the salts of logs. */
static int x_random(sqlite3_vfs *vfs, int size, char *bytes)
{
    memset(bytes, 1, (size_t)size);
    return size;
}

static void install(void)
{
    static sqlite3_vfs own;
    if (under != NULL)
        return;
    under           = sqlite3_vfs_find(NULL);
    own             = *under;
    own.zName       = "disk";
    own.szOsFile    = (int)sizeof(disk_file) + under->szOsFile;
    own.xOpen       = x_open;
    own.xDelete     = x_delete;
    own.xRandomness = x_random;
    if (sqlite3_vfs_register(&own, 1) != SQLITE_OK)
        abort();
}

/* ---- For the simulation ------------------------------------------------------------------ */

static void remove_files(void)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal", "-pawl"};
    char                     name[NAME_SIZE];
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        snprintf(name, sizeof name, "%s/db%s", folder, ends[i]);
        (void)unlink(name);
    }
    for (int i = 0; i < FILES_MAX; i++) {
        forget(&files[i]);
        files[i].name[0] = '\0';
    }
}

const char *disk_begin(bool is_lax)
{
    static char url[NAME_SIZE + 40];
    install();
    snprintf(folder, sizeof folder, "%s/pawl-sim-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (mkdtemp(folder) == NULL)
        abort();
    (void)sqlite3_test_control(SQLITE_TESTCTRL_PRNG_RESET);
    countdown = 0;
    is_off    = false;
    snprintf(url, sizeof url, "sqlite:%s/db%s", folder, is_lax ? "?synchronous=normal" : "");
    return url;
}

void disk_end(void)
{
    remove_files();
    (void)rmdir(folder);
}

void disk_cut_after(uint64_t operations)
{
    countdown = operations;
}

bool disk_is_off(void)
{
    return is_off;
}

void disk_recover(void)
{
    char name[NAME_SIZE];
    for (int i = 0; i < FILES_MAX; i++)
        recover(&files[i]);
    snprintf(name, sizeof name, "%s/db-shm", folder);
    (void)unlink(name);
    is_off = false;
}
#else
/* No program is built with SQLite: the URL is refused when it is opened. */
const char *disk_begin(bool is_lax)
{
    return "sqlite:";
}

void disk_end(void)
{
}

void disk_cut_after(uint64_t operations)
{
}

bool disk_is_off(void)
{
    return false;
}

void disk_recover(void)
{
}
#endif
