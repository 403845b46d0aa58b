/* mutants_cover.c - which functions a test runs: preloaded into programs compiled with -finstrument-functions.
 *
 *     LD_PRELOAD=cover.so PAWL_COVER=FOLDER test
 *
 * FOLDER gets a file for each program and library, with a byte for each of its addresses: 1 where a function that was
 * entered begins. All processes of the test write into the same files, which also keep what a killed one wrote.
 * Used by scripts/mutants_cover.py.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MODULES_MAX 64

typedef struct module {
    uintptr_t      begin, end;
    unsigned char *seen;
} module;

static module          modules[MODULES_MAX];
static atomic_size_t   module_count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static unsigned char *map_file(const char *path, size_t size)
{
    const char *folder = getenv("PAWL_COVER");
    char        name[4096];
    int         length = snprintf(name, sizeof name, "%s/", folder != NULL ? folder : "");
    if (folder == NULL || length < 0 || (size_t)length + strlen(path) >= sizeof name)
        return NULL;
    for (const char *at = path; *at != '\0'; at++)
        name[length++] = *at == '/' ? '%' : *at;
    name[length] = '\0';
    int   file   = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    void *made   = MAP_FAILED;
    if (file >= 0 && ftruncate(file, (off_t)size) == 0)
        made = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0)
        close(file);
    return made != MAP_FAILED ? made : NULL;
}

static int add_module(struct dl_phdr_info *info, size_t size, void *context)
{
    uintptr_t wanted = *(uintptr_t *)context, end = 0;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD) {
            uintptr_t last = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
            end            = last > end ? last : end;
        }
    if (wanted < info->dlpi_addr || wanted >= end || module_count == MODULES_MAX)
        return 0;
    char    path[4096];
    ssize_t length = info->dlpi_name[0] != '\0' ? snprintf(path, sizeof path, "%s", info->dlpi_name)
                                                : readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0 || (size_t)length >= sizeof path)
        return 0;
    path[length]          = '\0';
    modules[module_count] = (module){info->dlpi_addr, end, map_file(path, end - info->dlpi_addr)};
    atomic_fetch_add(&module_count, 1);
    return 1;
}

static const module *find(uintptr_t address)
{
    size_t count = atomic_load(&module_count);
    for (size_t i = 0; i < count; i++)
        if (address >= modules[i].begin && address < modules[i].end)
            return &modules[i];
    return NULL;
}

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

void __cyg_profile_func_enter(void *function, void *site)
{
    uintptr_t     address = (uintptr_t)function;
    const module *found   = find(address);
    (void)site;
    if (found == NULL && pthread_mutex_trylock(&mutex) == 0) { /* a signal may have come in here */
        if (find(address) == NULL)
            (void)dl_iterate_phdr(add_module, &address);
        pthread_mutex_unlock(&mutex);
        found = find(address);
    }
    if (found != NULL && found->seen != NULL)
        found->seen[address - found->begin] = 1;
}

void __cyg_profile_func_exit(void *function, void *site)
{
    (void)function;
    (void)site;
}
