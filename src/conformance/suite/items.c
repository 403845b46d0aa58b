/* items.c - the list of items, with those that no case on a store can prove. tests/guarantees.py writes the rows from
 * docs/GUARANTEES.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/run.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    char     letter;
    unsigned count;
} series[] = {{'A', 27}, {'T', 19}, {'S', 33}, {'O', 33}, {'D', 39}, {'E', 37}, {'M', 10}};
#define SERIES_COUNT (sizeof series / sizeof series[0])

static const suite_item rows[] = {
    {'A', 23, SUITE_NOT_APPLICABLE,
     "a case cannot make a store fail; a test uses a driver that fails"},
    {'A', 26, SUITE_NOT_APPLICABLE, "about opening a store, which happens before any case begins"},
    {'S', 23, SUITE_NOT_APPLICABLE, "about the engine, the same on every store"},
    {'S', 25, SUITE_NOT_APPLICABLE,
     "about records and their JSON, which are made before a store is called"},
    {'S', 26, SUITE_NOT_APPLICABLE,
     "about states and their JSON, which are made before a store is called"},
    {'S', 27, SUITE_NOT_APPLICABLE, "about the engine, the same on every store"},
    {'S', 29, SUITE_NOT_APPLICABLE, "about the engine, before it opens a store"},
    {'O', 17, SUITE_NOT_APPLICABLE,
     "about what a receiver does; stores keep the ids that the set is made from (O18)"},
    {'O', 29, SUITE_NOT_APPLICABLE, "about the service that calls the sweep"},
    {'O', 30, SUITE_NOT_APPLICABLE, "about failures that each driver's own tests cause"},
    {'D', 1, SUITE_NOT_APPLICABLE, "about the schema; the suite tests what is stored"},
    {'D', 2, SUITE_NOT_APPLICABLE, "about the schema; the suite tests what is stored"},
    {'D', 3, SUITE_NOT_APPLICABLE, "about the schema; the suite tests what is stored"},
    {'D', 4, SUITE_NOT_APPLICABLE, "about the statements of one kind of store"},
    {'D', 5, SUITE_NOT_APPLICABLE, "about the schema; the suite tests what is stored"},
    {'D', 6, SUITE_NOT_APPLICABLE, "only Oracle has such names"},
    {'D', 7, SUITE_NOT_APPLICABLE, "about the schema; the suite tests what is stored"},
    {'D', 8, SUITE_NOT_APPLICABLE, "only Oracle has such names"},
    {'D', 9, SUITE_NOT_APPLICABLE, "about the schema; the suite tests what is stored"},
    {'D', 10, SUITE_NOT_APPLICABLE, "about the schema; the suite tests what is stored"},
    {'D', 11, SUITE_NOT_APPLICABLE, "about the schema; the suite tests what is stored"},
    {'D', 12, SUITE_NOT_APPLICABLE, "about the schema; the suite tests what is stored"},
    {'D', 13, SUITE_NOT_APPLICABLE, "about the schema; the suite tests what is stored"},
    {'D', 14, SUITE_NOT_APPLICABLE, "about the schema; the suite tests what is stored"},
    {'D', 15, SUITE_NOT_APPLICABLE, "about the schema; the suite tests what is stored"},
    {'D', 17, SUITE_NOT_APPLICABLE, "about the schema; the suite tests what is stored"},
    {'D', 18, SUITE_NOT_APPLICABLE, "about records; what stores keep is D16"},
    {'D', 21, SUITE_NOT_APPLICABLE,
     "about records and their JSON, which are made before a store is called"},
    {'D', 22, SUITE_NOT_APPLICABLE,
     "about databases that round; that microseconds are kept is S16"},
    {'D', 24, SUITE_NOT_APPLICABLE, "about the schema; the suite tests what is stored"},
    {'D', 25, SUITE_NOT_APPLICABLE, "about the schema; the suite tests what is stored"},
    {'D', 27, SUITE_NOT_APPLICABLE, "about the schema; the suite tests what is stored"},
    {'D', 28, SUITE_NOT_APPLICABLE, "about the schema; the suite tests what is stored"},
    {'D', 29, SUITE_NOT_APPLICABLE, "about the schema; the suite tests what is stored"},
    {'D', 30, SUITE_NOT_APPLICABLE, "about the schema; the suite tests what is stored"},
    {'D', 31, SUITE_NOT_APPLICABLE, "about the schema; the suite tests what is stored"},
    {'D', 32, SUITE_NOT_APPLICABLE, "about the engine, before it opens a store"},
    {'D', 33, SUITE_NOT_APPLICABLE, "about the schema; the suite tests what is stored"},
    {'D', 35, SUITE_NOT_APPLICABLE, "about the schema; the suite tests what is stored"},
    {'D', 36, SUITE_NOT_APPLICABLE, "about one kind of store"},
    {'D', 37, SUITE_NOT_APPLICABLE, "about one kind of store"},
    {'D', 38, SUITE_NOT_APPLICABLE, "about the schema; the suite tests what is stored"},
    {'D', 39, SUITE_NOT_APPLICABLE, "about the schema of SQLite"},
    {'E', 1, SUITE_NOT_APPLICABLE,
     "about the engine, the same on every store; its tests run on memory, SQLite and PostgreSQL"},
    {'E', 2, SUITE_NOT_APPLICABLE,
     "about the engine, the same on every store; its tests run on memory, SQLite and PostgreSQL"},
    {'E', 4, SUITE_NOT_APPLICABLE,
     "about the engine, the same on every store; its tests run on memory, SQLite and PostgreSQL"},
    {'E', 5, SUITE_NOT_APPLICABLE,
     "about the engine, the same on every store; its tests run on memory, SQLite and PostgreSQL"},
    {'E', 6, SUITE_NOT_APPLICABLE,
     "about the engine, the same on every store; its tests run on memory, SQLite and PostgreSQL"},
    {'E', 8, SUITE_NOT_APPLICABLE,
     "about the engine, the same on every store; its tests run on memory, SQLite and PostgreSQL"},
    {'E', 10, SUITE_NOT_APPLICABLE,
     "about the engine, the same on every store; its tests run on memory, SQLite and PostgreSQL"},
    {'E', 11, SUITE_NOT_APPLICABLE,
     "about the engine, the same on every store; its tests run on memory, SQLite and PostgreSQL"},
    {'E', 14, SUITE_NOT_APPLICABLE,
     "about the engine, the same on every store; its tests run on memory, SQLite and PostgreSQL"},
    {'E', 17, SUITE_NOT_APPLICABLE,
     "about the engine, the same on every store; its tests run on memory, SQLite and PostgreSQL"},
    {'E', 18, SUITE_NOT_APPLICABLE,
     "about the engine, the same on every store; its tests run on memory, SQLite and PostgreSQL"},
    {'E', 19, SUITE_NOT_APPLICABLE,
     "about the engine, the same on every store; its tests run on memory, SQLite and PostgreSQL"},
    {'E', 22, SUITE_NOT_APPLICABLE,
     "about the engine, the same on every store; its tests run on memory, SQLite and PostgreSQL"},
    {'E', 23, SUITE_NOT_APPLICABLE,
     "about the engine, the same on every store; its tests run on memory, SQLite and PostgreSQL"},
    {'E', 30, SUITE_NOT_APPLICABLE,
     "about the engine, the same on every store; its tests run on memory, SQLite and PostgreSQL"},
    {'E', 32, SUITE_NOT_APPLICABLE, "about the engine, before it opens a store"},
    {'E', 36, SUITE_NOT_APPLICABLE,
     "about the engine, the same on every store; its tests run on memory, SQLite and PostgreSQL"},
    {'E', 37, SUITE_NOT_APPLICABLE,
     "about the engine, the same on every store; its tests run on memory, SQLite and PostgreSQL"},
    {'M', 1, SUITE_NOT_APPLICABLE, "about MongoDB's driver only, when a store is opened"},
    {'M', 2, SUITE_NOT_APPLICABLE, "about MongoDB's driver only, in its documents"},
    {'M', 3, SUITE_NOT_APPLICABLE, "about MongoDB's driver only, when a store is opened"},
    {'M', 4, SUITE_NOT_APPLICABLE, "about MongoDB's driver only, in its documents"},
    {'M', 5, SUITE_NOT_APPLICABLE, "about MongoDB's driver only, in its documents"},
    {'M', 6, SUITE_NOT_APPLICABLE, "about MongoDB's driver only, in its documents"},
    {'M', 7, SUITE_NOT_APPLICABLE, "about MongoDB's driver only, in its documents"},
    {'M', 8, SUITE_NOT_APPLICABLE, "about MongoDB's driver only, when a store is opened"},
    {'M', 9, SUITE_NOT_APPLICABLE, "about MongoDB's driver only, when a store is opened"},
    {'M', 10, SUITE_NOT_APPLICABLE, "about MongoDB's driver only, in its documents"},
};
#define ROW_COUNT (sizeof rows / sizeof rows[0])

/* -1: no such item. */
static int index_of(char letter, unsigned long number)
{
    unsigned first = 0;
    for (size_t i = 0; i < SERIES_COUNT; i++) {
        if (series[i].letter == letter)
            return number >= 1 && number <= series[i].count ? (int)(first + number) - 1 : -1;
        first += series[i].count;
    }
    return -1;
}

void suite_items_make(suite_item items[SUITE_ITEM_COUNT])
{
    size_t at = 0;
    for (size_t i = 0; i < SERIES_COUNT; i++)
        for (unsigned number = 1; number <= series[i].count; number++)
            items[at++] = (suite_item){series[i].letter, number, SUITE_PASS, ""};
    for (size_t i = 0; i < ROW_COUNT; i++)
        items[index_of(rows[i].letter, rows[i].number)] = rows[i];
}

int suite_item_next(const char **name)
{
    const char *at     = *name;
    char       *end    = NULL;
    char        letter = *at;
    if (letter < 'A' || letter > 'Z' || at[1] < '0' || at[1] > '9')
        return -1;
    unsigned long number = strtoul(at + 1, &end, 10);
    if (*end != ' ')
        return -1;
    *name = end + 1;
    return index_of(letter, number);
}
