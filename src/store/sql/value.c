/* value.c - converts members of structs to parameters, and columns to members. See value.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/value.h"

#include "pawl/limits.h"
#include "store/core/rows.h"

/* ---- Parameters ----------------------------------------------------------- */

static pawl_value number_of(int64_t number)
{
    return (pawl_value){.type = PAWL_VALUE_INT, .as.integer = number};
}

static pawl_value text_of(pawl_text text)
{
    return (pawl_value){.type = PAWL_VALUE_TEXT, .as.text = text};
}

static pawl_value uuid_of(pawl_uuid uuid)
{
    return (pawl_value){.type = PAWL_VALUE_UUID, .as.uuid = uuid};
}

pawl_value pawl__sql_value_of(int wire, const void *member)
{
    const pawl_text *text = member;
    const pawl_uuid *uuid = member;
    switch (wire) {
    case PAWL__WIRE_INT: return number_of(*(const int64_t *)member);
    case PAWL__WIRE_INT32: return number_of(*(const int32_t *)member);
    case PAWL__WIRE_BOOL:
    case PAWL__WIRE_FLAG: return number_of(*(const bool *)member);
    case PAWL__WIRE_TIME:
    case PAWL__WIRE_TIME_OR_NEVER:
    case PAWL__WIRE_TIME_FROM:
        return (pawl_value){.type = PAWL_VALUE_TIME, .as.time = *(const pawl_time *)member};
    case PAWL__WIRE_UUID: return uuid_of(*uuid);
    case PAWL__WIRE_UUID_OR_NULL:
        return pawl_uuid_is_zero(*uuid) ? (pawl_value){0} : uuid_of(*uuid);
    case PAWL__WIRE_JSON: /* an empty text is no JSON */
    case PAWL__WIRE_JSON_TEXT: return text_of(text->size != 0 ? *text : PAWL_TEXT("{}"));
    case PAWL__WIRE_VALUE: return *(const pawl_value *)member;
    case PAWL__WIRE_STATE: return text_of(pawl__state_words[*(const pawl_outbox_state *)member]);
    case PAWL__WIRE_OUTCOME:
        return text_of(pawl__outcome_words[*(const pawl_attempt_outcome *)member]);
    case PAWL__WIRE_INBOX: return text_of(pawl__inbox_words[*(const pawl_inbox_outcome *)member]);
    case PAWL__WIRE_RESET: return text_of(pawl__reset_word(*(const pawl_outbox_action *)member));
    case PAWL__WIRE_ZERO: return number_of(0);
    case PAWL__WIRE_NULL: return (pawl_value){0};
    default: return text_of(*text);
    }
}

/* ---- Columns -------------------------------------------------------------- */

static pawl__sql_kind kind_of_value(const pawl_value *value)
{
    switch (value->type) {
    case PAWL_VALUE_INT: return PAWL__SQL_NUMBER;
    case PAWL_VALUE_TIME: return PAWL__SQL_MOMENT;
    case PAWL_VALUE_TEXT: return PAWL__SQL_KEPT;
    case PAWL_VALUE_UUID: return PAWL__SQL_PEEKED;
    case PAWL_VALUE_NONE: break;
    }
    return PAWL__SQL_SKIPPED;
}

pawl__sql_kind pawl__sql_kind_of(int wire, const void *member)
{
    switch (wire) {
    case PAWL__WIRE_INT:
    case PAWL__WIRE_INT32:
    case PAWL__WIRE_BOOL:
    case PAWL__WIRE_FLAG: return PAWL__SQL_NUMBER;
    case PAWL__WIRE_TIME:
    case PAWL__WIRE_TIME_OR_NEVER: return PAWL__SQL_MOMENT;
    case PAWL__WIRE_PEEK:
    case PAWL__WIRE_UUID:
    case PAWL__WIRE_UUID_OR_NULL:
    case PAWL__WIRE_STATE:
    case PAWL__WIRE_OUTCOME: return PAWL__SQL_PEEKED;
    case PAWL__WIRE_VALUE: return kind_of_value(member);
    case PAWL__WIRE_SKIP: return PAWL__SQL_SKIPPED;
    default: return PAWL__SQL_KEPT;
    }
}

static const char *take_uuid(pawl_uuid *uuid, const pawl__sql_got *got)
{
    *uuid = (pawl_uuid){{0}};
    return got->is_null || pawl_uuid_parse(got->text, uuid, NULL) == PAWL_OK ? NULL : "UUID";
}

/* A null column is no value. */
static const char *take_value(pawl_value *value, const pawl__sql_got *got)
{
    if (got->is_null)
        value->type = PAWL_VALUE_NONE;
    switch (value->type) {
    case PAWL_VALUE_INT: value->as.integer = got->number; break;
    case PAWL_VALUE_TIME: value->as.time = got->number; break;
    case PAWL_VALUE_TEXT: value->as.text = got->text; break;
    case PAWL_VALUE_UUID: return take_uuid(&value->as.uuid, got);
    case PAWL_VALUE_NONE: break;
    }
    return NULL;
}

const char *pawl__sql_take(int wire, void *member, const pawl__sql_got *got)
{
    int found = 0;
    switch (wire) {
    case PAWL__WIRE_INT:
    case PAWL__WIRE_TIME: *(int64_t *)member = got->number; break;
    case PAWL__WIRE_TIME_OR_NEVER:
        *(pawl_time *)member = got->is_null ? PAWL_TIME_MAX : got->number;
        break;
    case PAWL__WIRE_INT32: *(int32_t *)member = (int32_t)got->number; break;
    case PAWL__WIRE_BOOL:
    case PAWL__WIRE_FLAG: *(bool *)member = got->number != 0; break;
    case PAWL__WIRE_UUID:
    case PAWL__WIRE_UUID_OR_NULL: return take_uuid(member, got);
    case PAWL__WIRE_STATE:
        found = pawl__find_word(got->text, pawl__state_words, PAWL__STATE_COUNT);
        *(pawl_outbox_state *)member = (pawl_outbox_state)(found < 0 ? 0 : found);
        break;
    case PAWL__WIRE_OUTCOME:
        found = pawl__find_word(got->text, pawl__outcome_words, PAWL__OUTCOME_COUNT);
        *(pawl_attempt_outcome *)member = (pawl_attempt_outcome)(found < 0 ? 0 : found);
        break;
    case PAWL__WIRE_VALUE: return take_value(member, got);
    case PAWL__WIRE_SKIP: break;
    default: *(pawl_text *)member = got->text; break;
    }
    return found < 0 ? "state" : NULL; /* an unknown word */
}

/* ---- Times ---------------------------------------------------------------- */

#define MICROSECONDS INT64_C(1000000)
#define DAY (INT64_C(86400) * MICROSECONDS)

/* Converts a date of the years 1 to 9999 to days since 1970, and back. Years begin in March, so that a leap day is the
 * last day of its year. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    int64_t era  = year / 400;
    int64_t rest = year - era * 400;
    int64_t days = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + rest * 365 + rest / 4 - rest / 100 + days - 719468;
}

static void put_days(int64_t days, pawl__sql_date *to)
{
    days += 719468;
    int64_t era   = days / 146097;
    int64_t rest  = days - era * 146097;
    int64_t year  = (rest - rest / 1460 + rest / 36524 - rest / 146096) / 365;
    int64_t left  = rest - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * left + 2) / 153;
    to->day       = (unsigned)(left - (153 * month + 2) / 5 + 1);
    to->month     = (unsigned)(month < 10 ? month + 3 : month - 9);
    to->year      = (int)(year + era * 400 + (to->month <= 2));
}

pawl__sql_date pawl__sql_date_of(pawl_time time)
{
    pawl__sql_date to = {0};
    time = time < PAWL_TIME_MIN ? PAWL_TIME_MIN : time > PAWL_TIME_MAX ? PAWL_TIME_MAX : time;
    int64_t of_day = time % DAY;
    of_day += of_day < 0 ? DAY : 0;
    put_days((time - of_day) / DAY, &to);
    int64_t seconds = of_day / MICROSECONDS;
    to.microsecond  = (unsigned)(of_day % MICROSECONDS);
    to.second       = (unsigned)(seconds % 60);
    to.minute       = (unsigned)(seconds / 60 % 60);
    to.hour         = (unsigned)(seconds / 3600);
    return to;
}

pawl_time pawl__sql_time_of(const pawl__sql_date *date)
{
    int64_t seconds = ((int64_t)date->hour * 60 + date->minute) * 60 + date->second;
    return days_of(date->year, date->month, date->day) * DAY + seconds * MICROSECONDS +
           (int64_t)date->microsecond;
}
