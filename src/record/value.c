/* value.c - compares, hashes and converts the values by which sagas are found.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/value.h"
#include "pawl/limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_TEXT_SIZE_MAX 60

pawl_value pawl_value_integer(int64_t integer)
{
    return (pawl_value){.type = PAWL_VALUE_INT, .as.integer = integer};
}

pawl_value pawl_value_text(pawl_text text)
{
    return (pawl_value){.type = PAWL_VALUE_TEXT, .as.text = text};
}

pawl_value pawl_value_uuid(pawl_uuid uuid)
{
    return (pawl_value){.type = PAWL_VALUE_UUID, .as.uuid = uuid};
}

pawl_value pawl_value_time(pawl_time time)
{
    return (pawl_value){.type = PAWL_VALUE_TIME, .as.time = time};
}

const char *pawl_value_type_name(pawl_value_type type)
{
    static const char *const names[] = {"none", "integer", "text", "uuid", "time"};
    return (size_t)type < sizeof names / sizeof names[0] ? names[type] : "?";
}

static int compare_integers(int64_t left, int64_t right)
{
    return left < right ? -1 : left > right;
}

int pawl_value_compare(const pawl_value *left, const pawl_value *right)
{
    if (left->type != right->type)
        return left->type < right->type ? -1 : 1;
    switch (left->type) {
    case PAWL_VALUE_INT: return compare_integers(left->as.integer, right->as.integer);
    case PAWL_VALUE_TEXT: return pawl_text_compare(left->as.text, right->as.text);
    case PAWL_VALUE_UUID: return pawl_uuid_compare(left->as.uuid, right->as.uuid);
    case PAWL_VALUE_TIME: return compare_integers(left->as.time, right->as.time);
    case PAWL_VALUE_NONE: break;
    }
    return 0;
}

bool pawl_value_equal(const pawl_value *left, const pawl_value *right)
{
    return pawl_value_compare(left, right) == 0;
}

/* The finaliser of MurmurHash3: each input bit changes half of the output bits. */
static uint64_t mix(uint64_t bits)
{
    bits = (bits ^ (bits >> 33)) * UINT64_C(0xFF51AFD7ED558CCD);
    bits = (bits ^ (bits >> 33)) * UINT64_C(0xC4CEB9FE1A85EC53);
    return bits ^ (bits >> 33);
}

/* Hashes eight bytes a step, with the same byte order on every machine. */
static uint64_t hash_bytes(uint64_t hash, const unsigned char *data, size_t size)
{
    hash = mix(hash ^ (uint64_t)size * UINT64_C(0x9E3779B97F4A7C15));
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = 0;
        for (size_t k = 0; k < 8 && i + k < size; k++)
            word |= (uint64_t)data[i + k] << (8 * k);
        hash = mix(hash ^ word) + UINT64_C(0x9E3779B97F4A7C15);
    }
    return mix(hash);
}

uint64_t pawl_value_hash(const pawl_value *value)
{
    uint64_t seed = mix((uint64_t)value->type + 1);
    switch (value->type) {
    case PAWL_VALUE_INT: return mix(seed ^ mix((uint64_t)value->as.integer + 1));
    case PAWL_VALUE_TEXT:
        return hash_bytes(seed, (const unsigned char *)value->as.text.data, value->as.text.size);
    case PAWL_VALUE_UUID:
        return hash_bytes(seed, value->as.uuid.bytes, sizeof value->as.uuid.bytes);
    case PAWL_VALUE_TIME: return mix(seed ^ mix((uint64_t)value->as.time + 1));
    case PAWL_VALUE_NONE: break;
    }
    return seed;
}

bool pawl_value_is_default(const pawl_value *value)
{
    switch (value->type) {
    case PAWL_VALUE_INT: return value->as.integer == 0;
    case PAWL_VALUE_TEXT: return value->as.text.size == 0;
    case PAWL_VALUE_UUID: return pawl_uuid_is_zero(value->as.uuid);
    case PAWL_VALUE_TIME: return value->as.time == 0;
    case PAWL_VALUE_NONE: break;
    }
    return true;
}

/* Size of the start of a text that an error shows; ends between characters. */
static int shown_size(pawl_text text)
{
    if (text.size <= SHOWN_TEXT_SIZE_MAX)
        return (int)text.size;
    int size = SHOWN_TEXT_SIZE_MAX;
    while (size > 0 && ((unsigned char)text.data[size] & 0xC0) == 0x80)
        size--;
    return size;
}

const char *pawl_value_format(const pawl_value *value, char *buffer, size_t size)
{
    char text[PAWL_UUID_TEXT_SIZE + 1];
    switch (value->type) {
    case PAWL_VALUE_INT: snprintf(buffer, size, "%" PRId64, value->as.integer); return buffer;
    case PAWL_VALUE_TEXT:
        snprintf(buffer, size, "'%.*s%s'", shown_size(value->as.text),
                 value->as.text.data != NULL ? value->as.text.data : "",
                 value->as.text.size > SHOWN_TEXT_SIZE_MAX ? "..." : "");
        return buffer;
    case PAWL_VALUE_UUID: pawl_uuid_format(value->as.uuid, text); break;
    case PAWL_VALUE_TIME: pawl_time_format(value->as.time, text); break;
    default: snprintf(text, sizeof text, "%s", pawl_value_type_name(value->type)); break;
    }
    snprintf(buffer, size, "%s", text);
    return buffer;
}

bool pawl_value_can_coerce(pawl_value_type from, pawl_value_type to)
{
    if (from == PAWL_VALUE_NONE || to == PAWL_VALUE_NONE)
        return from == PAWL_VALUE_NONE && to <= PAWL_VALUE_TIME;
    return from == to || ((from == PAWL_VALUE_TEXT || to == PAWL_VALUE_TEXT) &&
                          from <= PAWL_VALUE_TIME && to <= PAWL_VALUE_TIME);
}

/* Parses digits with an optional '-', and nothing else; false when the number does not fit. */
static bool parse_integer(pawl_text text, int64_t *integer)
{
    bool     is_negative = text.size != 0 && text.data[0] == '-';
    uint64_t limit       = (uint64_t)INT64_MAX + is_negative;
    uint64_t value       = 0;
    if (text.size == (size_t)is_negative)
        return false;
    for (size_t i = is_negative; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        uint64_t digit = (uint64_t)(text.data[i] - '0');
        if (value > (limit - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *integer = is_negative ? -(int64_t)(value - (value != 0)) - (value != 0) : (int64_t)value;
    return true;
}

static bool from_text(pawl_value_type to, pawl_text text, pawl_value *value)
{
    value->type = to;
    switch (to) {
    case PAWL_VALUE_INT: return parse_integer(text, &value->as.integer);
    case PAWL_VALUE_UUID: return pawl_uuid_parse(text, &value->as.uuid, NULL) == PAWL_OK;
    case PAWL_VALUE_TIME:
        return pawl_time_parse(text, &value->as.time, NULL) == PAWL_OK &&
               value->as.time >= PAWL_TIME_MIN && value->as.time <= PAWL_TIME_MAX;
    default: return false;
    }
}

/* Converts a value of another type to the text that pawl_value_format writes. */
static pawl_code to_text(pawl_value *value, pawl_arena *arena, pawl_error *error)
{
    char      buffer[PAWL_VALUE_TEXT_SIZE];
    pawl_text text =
        pawl_arena_text(arena, pawl_text_of(pawl_value_format(value, buffer, sizeof buffer)));
    if (text.data == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a text");
    *value = pawl_value_text(text);
    return PAWL_OK;
}

pawl_code pawl_value_coerce(pawl_value_type to, pawl_value *value, pawl_arena *arena,
                            pawl_error *error)
{
    pawl_value converted;
    if (!pawl_value_can_coerce(value->type,
                               to)) /* the value may be a message's: no error shows it */
        return pawl_error_set(error, PAWL_EINVAL, "%s cannot become %s",
                              pawl_value_type_name(value->type), pawl_value_type_name(to));
    if (value->type == to || value->type == PAWL_VALUE_NONE)
        return PAWL_OK;
    if (to == PAWL_VALUE_TEXT)
        return to_text(value, arena, error);
    if (!from_text(to, value->as.text, &converted))
        return pawl_error_set(error, PAWL_EINVAL, "text of %zu byte%s cannot become %s",
                              value->as.text.size, value->as.text.size == 1 ? "" : "s",
                              to == PAWL_VALUE_INT ? "integer of 64 bits"
                                                   : pawl_value_type_name(to));
    *value = converted;
    return PAWL_OK;
}

static size_t count_characters(pawl_text text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.size; i++)
        count += ((unsigned char)text.data[i] & 0xC0) != 0x80;
    return count;
}

static pawl_code check_text(pawl_text text, const char *path, pawl_error *error)
{
    size_t at;
    if (text.size != 0 && text.data == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "%s: text of %zu bytes at NULL", path, text.size);
    if (!pawl_text_is_valid(text, &at))
        return pawl_error_set(error, PAWL_EINVAL, "%s: %s at byte %zu of the text", path,
                              text.data[at] == '\0' ? "NUL" : "not UTF-8", at);
    size_t count = count_characters(text);
    if (count > PAWL_CORRELATION_CHARS_MAX)
        return pawl_error_set(error, PAWL_EINVAL, "%s: text of %zu characters, the limit is %d",
                              path, count, PAWL_CORRELATION_CHARS_MAX);
    return PAWL_OK;
}

pawl_code pawl_value_check(const pawl_value *value, const char *path, pawl_error *error)
{
    if (value->type == PAWL_VALUE_TEXT)
        return check_text(value->as.text, path, error);
    /* Databases store only this range, and would each report other times differently. */
    if (value->type == PAWL_VALUE_TIME &&
        (value->as.time < PAWL_TIME_MIN || value->as.time > PAWL_TIME_MAX))
        return pawl_error_set(error, PAWL_EINVAL, "%s: time %lld is outside the years 0001 to 9999",
                              path, (long long)value->as.time);
    return PAWL_OK;
}
