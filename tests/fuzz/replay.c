/* replay.c - main for a fuzz target where libFuzzer is missing: every input of the corpus, then inputs that are made of
 * them by a repeatable source of random numbers.
 *
 *     fuzz_NAME [-runs=N] [-seed=N] FILE-OR-FOLDER ...
 *
 * The options are those of libFuzzer. A run that fails ends with the number of its input, and -seed of the line that was
 * printed before makes it again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz/fuzz.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define INPUTS_MAX 1000
#define SIZE_ADDED_MAX 64
#define EDITS_MAX 8

typedef struct item {
    uint8_t *data;
    size_t   size;
} item;

static item   corpus[INPUTS_MAX];
static size_t corpus_count;

static void add_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    item  made = {.size = 0};
    if (file == NULL || corpus_count == INPUTS_MAX) {
        fprintf(stderr, "%s: cannot be read, or there are too many\n", path);
        exit(2);
    }
    (void)fseek(file, 0, SEEK_END);
    made.size = (size_t)ftell(file);
    rewind(file);
    made.data = malloc(made.size + 1);
    if (made.data == NULL || fread(made.data, 1, made.size, file) != made.size)
        exit(2);
    fclose(file);
    corpus[corpus_count++] = made;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* In the order of their names, so that a seed makes the same inputs again. */
static void add_path(const char *path)
{
    struct dirent **entries;
    char            name[1000];
    int             count = scandir(path, &entries, is_visible, alphasort);
    if (count < 0)
        add_file(path);
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        add_file(name);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

/* A copy whose memory ends where the input ends. */
static void run_one(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    if (copy == NULL)
        exit(2);
    memcpy(copy, data, size);
    (void)LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

/* Changes a byte, cuts, repeats a piece, or puts in a piece of another input. */
static size_t edit(pawl_random *random, uint8_t *data, size_t size, size_t capacity)
{
    const item *other = &corpus[pawl_random_below(random, corpus_count)];
    const item  self  = {data, size};
    const item *from  = pawl_random_below(random, 2) == 0 ? other : &self;
    size_t      at    = (size_t)pawl_random_below(random, size + 1);
    size_t      piece = 1 + (size_t)pawl_random_below(random, 16);
    size_t      begin = (size_t)pawl_random_below(random, from->size + 1);
    uint8_t     copy[16];
    switch (pawl_random_below(random, 4)) {
    case 0:
        if (at < size)
            data[at] ^= (uint8_t)(1u << pawl_random_below(random, 8));
        return size;
    case 1:
        if (at < size)
            data[at] = (uint8_t)pawl_random_below(random, 256);
        return size;
    case 2:
        piece = piece < size - at ? piece : size - at;
        memmove(data + at, data + at + piece, size - at - piece);
        return size - piece;
    default:
        piece = piece < from->size - begin ? piece : from->size - begin;
        if (size + piece > capacity)
            return size;
        memcpy(copy, from->data + begin, piece);
        memmove(data + at + piece, data + at, size - at);
        memcpy(data + at, copy, piece);
        return size + piece;
    }
}

static void run_made(pawl_random *random)
{
    const item *from     = &corpus[pawl_random_below(random, corpus_count)];
    size_t      capacity = from->size + SIZE_ADDED_MAX, size = from->size;
    uint8_t    *data = malloc(capacity);
    if (data == NULL)
        exit(2);
    memcpy(data, from->data, size);
    for (uint64_t edits = 1 + pawl_random_below(random, EDITS_MAX); edits > 0; edits--)
        size = edit(random, data, size, capacity);
    run_one(data, size);
    free(data);
}

int main(int count, char **words)
{
    uint64_t    runs = 1000, seed = 1;
    pawl_random random;
    for (int i = 1; i < count; i++) {
        if (strncmp(words[i], "-runs=", 6) == 0)
            runs = strtoull(words[i] + 6, NULL, 10);
        else if (strncmp(words[i], "-seed=", 6) == 0)
            seed = strtoull(words[i] + 6, NULL, 10);
        else
            add_path(words[i]);
    }
    if (corpus_count == 0)
        corpus[corpus_count++] = (item){.data = malloc(1)};
    printf("%zu inputs, then %" PRIu64 " made of them with -seed=%" PRIu64 "\n", corpus_count, runs,
           seed);
    (void)fflush(stdout);
    for (size_t i = 0; i < corpus_count; i++)
        run_one(corpus[i].data, corpus[i].size);
    pawl_random_seed(&random, seed);
    for (uint64_t i = 0; i < runs; i++)
        run_made(&random);
    for (size_t i = 0; i < corpus_count; i++)
        free(corpus[i].data);
    return 0;
}
