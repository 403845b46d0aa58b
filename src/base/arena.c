/* arena.c - the allocator of the whole library, and arenas, whose memory is freed together.
 *
 * An arena is a chain of blocks, oldest first; `current` is the block that is being filled. Reset and rewind keep
 * later blocks for reuse.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/arena.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE_DEFAULT ((size_t)64 * 1024)
#define KEPT_SIZE_MAX ((size_t)4 * 1024 * 1024)
#define ALIGNMENT (alignof(max_align_t))
#define OVERWRITTEN 0xDD

/* In fuzz targets the address sanitizer is told which bytes of a block are in use, so that it reports reads behind an
 * allocation and of freed bytes. */
#ifdef PAWL_FUZZ
#include <sanitizer/asan_interface.h>
#define GAP ALIGNMENT
#define HIDE(at, size) ASAN_POISON_MEMORY_REGION((at), (size))
#define SHOW(at, size) ASAN_UNPOISON_MEMORY_REGION((at), (size))
#else
#define GAP ((size_t)0)
#define HIDE(at, size) ((void)0)
#define SHOW(at, size) ((void)0)
#endif

static void *resize_by_default(void *memory, size_t size, void *context)
{
    (void)context;
    if (size == 0) {
        free(memory);
        return NULL;
    }
    return realloc(memory, size);
}

static pawl_allocator allocator = {resize_by_default, NULL};

void pawl_allocator_set(const pawl_allocator *replacement)
{
    allocator = replacement != NULL ? *replacement : (pawl_allocator){resize_by_default, NULL};
}

void *pawl_resize(void *memory, size_t size)
{
    return allocator.resize(memory, size, allocator.context);
}

void *pawl__allocate_zeroed(size_t size, size_t zeroed)
{
    void *memory = pawl_resize(NULL, size);
    if (memory != NULL)
        memset(memory, 0, zeroed);
    return memory;
}

void *pawl_allocate(size_t size)
{
    return pawl__allocate_zeroed(size, size);
}

void pawl_free(void *memory)
{
    if (memory != NULL)
        pawl_resize(memory, 0);
}

typedef struct block {
    struct block *next;
    size_t        size;
    size_t        used;
    alignas(max_align_t) char data[];
} block;

struct pawl_arena {
    block *first;
    block *current;
    size_t block_size;
    bool   is_short;
};

/* The current block of an arena without blocks: its size is 0, so nobody writes into it. */
static block no_block;

static block *block_create(size_t size)
{
    block *made = pawl_resize(NULL, sizeof(block) + size);
    if (made == NULL)
        return NULL;
    made->next = NULL;
    made->size = size;
    made->used = 0;
    HIDE(made->data, size);
    return made;
}

pawl_arena *pawl_arena_create(size_t block_size)
{
    pawl_arena *arena = pawl_allocate(sizeof *arena);
    if (arena == NULL)
        return NULL;
    arena->block_size = block_size != 0 ? block_size : BLOCK_SIZE_DEFAULT;
    arena->current    = &no_block;
    return arena;
}

static void free_chain(block *chain)
{
    while (chain != NULL) {
        block *next = chain->next;
        pawl_free(chain);
        chain = next;
    }
}

void pawl_arena_destroy(pawl_arena *arena)
{
    if (arena == NULL)
        return;
    free_chain(arena->first);
    pawl_free(arena);
}

static bool is_overwriting;

void pawl__arena_overwrite(bool is_on)
{
    is_overwriting = is_on;
}

/* Frees the bytes of the block from `used` on. */
static void give_back(block *b, size_t used)
{
    if (is_overwriting && b->used > used) {
        SHOW(b->data + used, b->used - used);
        memset(b->data + used, OVERWRITTEN, b->used - used);
    }
    HIDE(b->data + used, b->size - used);
    b->used = used;
}

void pawl_arena_reset(pawl_arena *arena)
{
    size_t kept     = 0;
    arena->is_short = false;
    for (block *b = arena->first; b != NULL; b = b->next) {
        give_back(b, 0);
        kept += b->size;
        if (b->next != NULL && kept + b->next->size > KEPT_SIZE_MAX) {
            free_chain(b->next);
            b->next = NULL;
        }
    }
    arena->current = arena->first != NULL ? arena->first : &no_block;
}

bool pawl__arena_is_short(const pawl_arena *arena)
{
    return arena->is_short;
}

pawl_text pawl__arena_uuid(pawl_arena *arena, pawl_uuid id)
{
    char text[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(id, text);
    return pawl_arena_text(arena, (pawl_text){.data = text, .size = PAWL_UUID_TEXT_SIZE});
}

pawl_arena_point pawl_arena_position(pawl_arena *arena)
{
    return (pawl_arena_point){arena->current, arena->current->used};
}

/* The pointer to the block after the current one. */
static block **behind(pawl_arena *arena)
{
    return arena->current != &no_block ? &arena->current->next : &arena->first;
}

void pawl_arena_rewind(pawl_arena *arena, pawl_arena_point point)
{
    arena->current = point.block;
    if (arena->current != &no_block)
        give_back(arena->current, point.used);
    for (block *b = *behind(arena); b != NULL; b = b->next)
        give_back(b, 0);
}

/* Makes a block with room for `size` bytes current: the next block if it is large enough, else a new one inserted
 * before it. */
static block *next_block(pawl_arena *arena, size_t size)
{
    block **place = behind(arena);
    block  *next  = *place;
    if (next == NULL || next->size < size) {
        block *made = block_create(size > arena->block_size ? size : arena->block_size);
        arena->is_short |= made == NULL;
        if (made == NULL)
            return NULL;
        made->next = next;
        next = *place = made;
    }
    arena->current = next;
    return next;
}

static void *take_raw(pawl_arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    size_t rounded = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + GAP;
    block *b       = arena->current;
    if (b->size - b->used < rounded && (b = next_block(arena, rounded)) == NULL)
        return NULL;
    void *memory = b->data + b->used;
    b->used += rounded;
    SHOW(memory, size);
    return memory;
}

void *pawl__arena_take_unset(pawl_arena *arena, size_t size)
{
    return take_raw(arena, size);
}

void *pawl_arena_take(pawl_arena *arena, size_t size)
{
    void *memory = take_raw(arena, size != 0 ? size : 1);
    if (memory != NULL)
        memset(memory, 0, size);
    return memory;
}

void *pawl_arena_copy(pawl_arena *arena, const void *data, size_t size)
{
    void *memory = take_raw(arena, size != 0 ? size : 1);
    if (memory != NULL && size != 0)
        memcpy(memory, data, size);
    return memory;
}

pawl_text pawl_arena_text(pawl_arena *arena, pawl_text text)
{
    char *memory = take_raw(arena, text.size + 1);
    if (memory == NULL)
        return (pawl_text){0};
    if (text.size != 0)
        memcpy(memory, text.data, text.size);
    memory[text.size] = '\0';
    return (pawl_text){.data = memory, .size = text.size};
}

bool pawl__arena_texts(pawl_arena *arena, pawl_text *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        *texts[i] = pawl_arena_text(arena, *texts[i]);
        if (texts[i]->data == NULL)
            return false;
    }
    return true;
}

pawl_text pawl_arena_printf(pawl_arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *memory = size >= 0 ? take_raw(arena, (size_t)size + 1) : NULL;
    if (memory == NULL)
        return (pawl_text){0};
    va_start(arguments, format);
    vsnprintf(memory, (size_t)size + 1, format, arguments);
    va_end(arguments);
    return (pawl_text){.data = memory, .size = (size_t)size};
}

void *pawl_arena_grow(pawl_arena *arena, void *items, size_t count, size_t *capacity,
                      size_t item_size)
{
    if (count < *capacity)
        return items;
    size_t larger = *capacity < 8 ? 8 : *capacity * 2;
    if (larger > SIZE_MAX / 2 / item_size)
        return NULL;
    char *grown = pawl_arena_take(arena, larger * item_size);
    if (grown == NULL)
        return NULL;
    if (count != 0)
        memcpy(grown, items, count * item_size);
    *capacity = larger;
    return grown;
}
