/* zone.c - reads a time zone's file, and finds the span of a time: from the file's list of changes, and behind it from
 * the rule at the file's end.
 *
 *     header of version 1, its data | header, data of 64 bits | "\n" rule "\n"
 *                                                                CET-1CEST,M3.5.0,M10.5.0/3
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/zone.h"

#include "pawl/limits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define HEADER_SIZE 44

/* The range that RFC 8536 (3.2) allows in a file. With any such values, the sum of a time and an offset fits an
 * int64_t. */
#define CHANGE_MAX (INT64_C(1) << 59)
#define OFFSET_MIN (-89999)
#define OFFSET_MAX 93599

typedef struct zone_change {
    int64_t at;
    int32_t offset; /* from then on */
} zone_change;

struct pawl__zone {
    size_t        count;
    int32_t       offset_first; /* before the first change */
    pawl__tz_rule rule;
    bool          has_rule;
    zone_change   changes[];
};

/* ---- Reading ------------------------------------------------------------ */

/* Counts of a header, in the order of the file. */
typedef struct zone_counts {
    uint32_t utc, standard, leaps, changes, types, letters;
} zone_counts;

typedef struct zone_reader {
    const unsigned char *at;
    size_t               left;
} zone_reader;

static uint64_t big_endian(const unsigned char *at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value = value << 8 | at[i];
    return value;
}

static int32_t signed_of(uint64_t bits)
{
    return (int32_t)(bits >= UINT64_C(0x80000000) ? (int64_t)bits - INT64_C(0x100000000)
                                                  : (int64_t)bits);
}

static bool skip(zone_reader *reader, size_t size)
{
    if (reader->left < size)
        return false;
    reader->at += size;
    reader->left -= size;
    return true;
}

/* False: not a header of version 2 or later. */
static bool read_header(zone_reader *reader, zone_counts *counts)
{
    const unsigned char *at = reader->at;
    if (!skip(reader, HEADER_SIZE) || memcmp(at, "TZif", 4) != 0 || at[4] < '2')
        return false;
    uint32_t read[6];
    for (size_t i = 0; i < 6; i++)
        read[i] = (uint32_t)big_endian(at + 20 + 4 * i, 4);
    *counts = (zone_counts){read[0], read[1], read[2], read[3], read[4], read[5]};
    return counts->types > 0;
}

/* Bytes of the data that follows a header, if each time has `width` bytes. */
static size_t data_size(const zone_counts *counts, size_t width)
{
    return (size_t)counts->changes * (width + 1) + (size_t)counts->types * 6 + counts->letters +
           (size_t)counts->leaps * (width + 4) + counts->standard + counts->utc;
}

/* Reads the rule, which stands between two line feeds. False: not a rule. */
static bool read_rule(zone_reader *reader, pawl__zone *zone)
{
    if (reader->left < 2 || reader->at[0] != '\n' || reader->at[reader->left - 1] != '\n')
        return false;
    pawl_text text = {.data = (const char *)reader->at + 1, .size = reader->left - 2};
    zone->has_rule = text.size > 0;
    return text.size == 0 || pawl__tz_rule_parse(text, &zone->rule);
}

static bool read_offset(const unsigned char *type, int32_t *offset)
{
    *offset = signed_of(big_endian(type, 4));
    return *offset >= OFFSET_MIN && *offset <= OFFSET_MAX;
}

/* The sizes have been checked. False: times do not rise, a time or an offset is out of range, or a type does not
 * exist. */
static bool read_changes(const unsigned char *data, const zone_counts *counts, pawl__zone *zone)
{
    const unsigned char *types_of = data + (size_t)counts->changes * 8;
    const unsigned char *types    = types_of + counts->changes;
    if (!read_offset(types, &zone->offset_first))
        return false;
    for (size_t i = 0; i < counts->changes; i++) {
        uint64_t bits = big_endian(data + 8 * i, 8);
        int64_t  at   = 0;
        memcpy(&at, &bits, sizeof at);
        if (types_of[i] >= counts->types || at < -CHANGE_MAX || at > CHANGE_MAX ||
            (i > 0 && at <= zone->changes[i - 1].at) ||
            !read_offset(types + 6 * (size_t)types_of[i], &zone->changes[i].offset))
            return false;
        zone->changes[i].at = at;
    }
    zone->count = counts->changes;
    return true;
}

/* PAWL_EDECODE has no text here: the caller knows the file's name. */
static pawl_code decode(zone_reader reader, pawl__zone **zone)
{
    zone_counts counts;
    if (!read_header(&reader, &counts) || !skip(&reader, data_size(&counts, 4)) ||
        !read_header(&reader, &counts) || counts.leaps != 0)
        return PAWL_EDECODE;
    const unsigned char *data = reader.at;
    if (!skip(&reader, data_size(&counts, 8)))
        return PAWL_EDECODE;
    *zone = pawl_allocate(sizeof **zone + counts.changes * sizeof(zone_change));
    if (*zone == NULL)
        return PAWL_ENOMEM;
    if (read_changes(data, &counts, *zone) && read_rule(&reader, *zone))
        return PAWL_OK;
    pawl__zone_destroy(*zone);
    *zone = NULL;
    return PAWL_EDECODE;
}

static bool is_name(pawl_text name)
{
    if (name.size > PAWL_NAME_SIZE_MAX || name.data[0] == '/')
        return false;
    for (size_t i = 0; i < name.size; i++) {
        char c = name.data[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '/' || c == '_' || c == '-' || c == '+'))
            return false;
    }
    return true;
}

/* `*size` is 0 when the file does not exist, is not a regular file, or exceeds the limit. */
static pawl_code read_file(const char *path, unsigned char **data, size_t *size)
{
    struct stat about;
    *size = 0;
    *data = NULL;
    if (stat(path, &about) != 0)
        return PAWL_ENOTFOUND;
    if (!S_ISREG(about.st_mode) || about.st_size > PAWL__ZONE_FILE_SIZE_MAX)
        return PAWL_EDECODE;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return PAWL_ENOTFOUND;
    *data = pawl_allocate((size_t)about.st_size + 1);
    if (*data != NULL)
        *size = fread(*data, 1, (size_t)about.st_size, file);
    fclose(file);
    return *data != NULL ? PAWL_OK : PAWL_ENOMEM;
}

static pawl_code refuse(pawl_code code, const char *folder, pawl_text name, pawl_error *error)
{
    if (code == PAWL_ENOTFOUND)
        return pawl_error_set(error, code, "time zone '%.*s': there is no file of it in %s",
                              PAWL_TEXT_ARGS(name), folder);
    if (code == PAWL_EDECODE)
        return pawl_error_set(error, code,
                              "time zone '%.*s': its file in %s is not a TZif file of version 2 "
                              "without leap seconds",
                              PAWL_TEXT_ARGS(name), folder);
    return pawl_error_set(error, code, "time zone '%.*s': out of memory", PAWL_TEXT_ARGS(name));
}

pawl_code pawl__zone_create(const char *folder, pawl_text name, pawl__zone **zone,
                            pawl_error *error)
{
    *zone = NULL;
    if (name.size == 0 || pawl_text_equal(name, PAWL_TEXT("UTC")))
        return PAWL_OK;
    if (!is_name(name))
        return pawl_error_set(error, PAWL_EINVAL,
                              "'%.*s' is not the name of a time zone, such as Europe/Berlin",
                              name.size > 60 ? 60 : (int)name.size, name.data);
    char path[PAWL_URL_SIZE_MAX + PAWL_NAME_SIZE_MAX];
    int  path_size = snprintf(path, sizeof path, "%s/%.*s", folder, PAWL_TEXT_ARGS(name));
    if (path_size < 0 || (size_t)path_size >= sizeof path)
        return refuse(PAWL_ENOTFOUND, folder, name, error);
    unsigned char *data = NULL;
    size_t         size = 0;
    pawl_code      code = read_file(path, &data, &size);
    if (code == PAWL_OK)
        code = decode((zone_reader){data, size}, zone);
    pawl_free(data);
    return code == PAWL_OK ? code : refuse(code, folder, name, error);
}

void pawl__zone_destroy(pawl__zone *zone)
{
    pawl_free(zone);
}

/* ---- Spans -------------------------------------------------------------- */

/* Number of the file's changes at or before `seconds`. */
static size_t count_until(const pawl__zone *zone, int64_t seconds)
{
    size_t low = 0, high = zone->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (zone->changes[middle].at <= seconds)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int32_t offset_of(const pawl__zone *zone, size_t count)
{
    return count > 0 ? zone->changes[count - 1].offset : zone->offset_first;
}

/* The span after the first `count` changes, without the rule. */
static pawl__zone_span span_of_file(const pawl__zone *zone, size_t count)
{
    pawl__zone_span span = {INT64_MIN, INT64_MAX, offset_of(zone, count), 0};
    span.offset_before   = count > 0 ? offset_of(zone, count - 1) : span.offset;
    if (count > 0)
        span.begin = zone->changes[count - 1].at;
    if (count < zone->count)
        span.end = zone->changes[count].at;
    return span;
}

pawl__zone_span pawl__zone_span_at(const pawl__zone *zone, int64_t seconds)
{
    if (zone == NULL)
        return (pawl__zone_span){INT64_MIN, INT64_MAX, 0, 0};
    size_t          count = count_until(zone, seconds);
    pawl__zone_span span  = span_of_file(zone, count);
    if (count < zone->count || !zone->has_rule)
        return span;
    pawl__zone_span ruled = pawl__tz_rule_span(&zone->rule, seconds);
    if (ruled.begin > span.begin)
        return ruled;
    span.end = ruled.end; /* from the last change of the file to the first of the rule */
    return span;
}
