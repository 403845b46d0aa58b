/* plan.c - drawing a plan, its text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulation/plan.h"

#include "simulation/sim_store.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#define SENDS_MAX 40
#define TROUBLES_MAX 24
#define LASTS PAWL_MINUTES(4) /* until the last event */

typedef struct setting {
    const char *name;
    size_t      offset;
    int64_t     least, most;
} setting;

static const setting settings[] = {
#define PLAN_SETTING(name, least, most) {#name, offsetof(plan_settings, name), least, most},
    PLAN_SETTINGS(PLAN_SETTING)
#undef PLAN_SETTING
};
enum { SETTING_COUNT = sizeof settings / sizeof settings[0] };

static const char *const event_names[] = {
#define PLAN_EVENT(name) #name,
    PLAN_EVENTS(PLAN_EVENT)
#undef PLAN_EVENT
};

static int64_t *setting_of(plan_settings *all, const setting *one)
{
    return (int64_t *)(void *)((char *)all + one->offset);
}

/* ---- Drawing ------------------------------------------------------------------------ */

/* Each plan has some kinds of trouble and not others, and settings at their ends as well as between: rare pairs of
 * causes meet more often than if each plan had a little of all. */
static int64_t draw_setting(pawl_random *random, const setting *it)
{
    uint64_t span = (uint64_t)(it->most - it->least) + 1;
    switch (pawl_random_below(random, 4)) {
    case 0: return it->least;
    case 1: return it->least + (int64_t)pawl_random_below(random, span / 8 + 1);
    default: return it->least + (int64_t)pawl_random_below(random, span);
    }
}

static int64_t draw_value(pawl_random *random, plan_event_kind kind)
{
    static const int64_t most[plan_event_count] = {[plan_event_crash]   = PAWL_SECONDS(20),
                                                   [plan_event_stop]    = PAWL_SECONDS(5),
                                                   [plan_event_stall]   = PAWL_SECONDS(90),
                                                   [plan_event_clock]   = PAWL_SECONDS(90),
                                                   [plan_event_away]    = PAWL_SECONDS(20),
                                                   [plan_event_carrier] = PAWL_SECONDS(90),
                                                   [plan_event_fault]   = 3};
    uint64_t             limit                  = (uint64_t)most[kind];
    if (kind != plan_event_fault && pawl_random_below(random, 2) == 0)
        limit /= 20;
    int64_t value = 1 + (int64_t)pawl_random_below(random, limit + 1);
    return kind == plan_event_clock && pawl_random_below(random, 2) == 0 ? -value : value;
}

static void add_event(sim_plan *it, plan_event event)
{
    int at = it->event_count++;
    for (; at > 0 && it->events[at - 1].at > event.at; at--)
        it->events[at] = it->events[at - 1];
    it->events[at] = event;
}

static void draw_troubles(pawl_random *random, sim_plan *it)
{
    unsigned kinds = (unsigned)pawl_random_below(random, 1u << plan_event_count);
    unsigned count = (unsigned)pawl_random_below(random, TROUBLES_MAX + 1);
    for (unsigned i = 0; i < count; i++) {
        plan_event event = {.kind = (plan_event_kind)pawl_random_below(random, plan_event_count),
                            .at   = (int64_t)pawl_random_below(random, (uint64_t)LASTS),
                            .process =
                                (int)pawl_random_below(random, (uint64_t)it->settings.processes),
                            .op    = (int)pawl_random_below(random, fault_op_count),
                            .fault = 1 + (int)pawl_random_below(random, SIM_FAULT_COUNT - 1)};
        event.value      = draw_value(random, event.kind);
        if (pawl_random_below(random, 2) == 0)
            event.op = pawl_random_below(random, 2) == 0 ? fault_op_commit : fault_op_any;
        if (event.kind > plan_event_again && (kinds >> event.kind & 1) != 0)
            add_event(it, event);
    }
}

void plan_draw(uint64_t seed, sim_plan *made)
{
    pawl_random random;
    memset(made, 0, sizeof *made);
    made->seed = seed;
    pawl_random_seed(&random, seed);
    for (int i = 0; i < SETTING_COUNT; i++)
        *setting_of(&made->settings, &settings[i]) = draw_setting(&random, &settings[i]);
    uint64_t within = (uint64_t)LASTS >> pawl_random_below(&random, 8);
    unsigned sends  = 1 + (unsigned)pawl_random_below(&random, SENDS_MAX);
    for (unsigned i = 0; i < sends; i++) {
        bool is_again = i > 0 && pawl_random_below(&random, 6) == 0;
        add_event(made, (plan_event){.kind = is_again ? plan_event_again : plan_event_send,
                                     .at   = (int64_t)pawl_random_below(&random, within)});
    }
    draw_troubles(&random, made);
}

/* ---- Text ------------------------------------------------------------------------------ */

void plan_print(const sim_plan *it, FILE *file)
{
    plan_settings all = it->settings;
    fprintf(file, "seed %" PRIu64 "\n", it->seed);
    for (int i = 0; i < SETTING_COUNT; i++)
        fprintf(file, "%s %" PRId64 "\n", settings[i].name, *setting_of(&all, &settings[i]));
    for (int i = 0; i < it->event_count; i++) {
        const plan_event *event = &it->events[i];
        fprintf(file, "at %.6f %s", (double)event->at / 1e6, event_names[event->kind]);
        if (event->kind > plan_event_again)
            fprintf(file, " process %d value %" PRId64, event->process, event->value);
        if (event->kind == plan_event_fault)
            fprintf(file, " %s %s", fault_op_name((fault_op)event->op),
                    sim_fault_name((sim_fault)event->fault));
        fputc('\n', file);
    }
}

static int find_name(const char *name, const char *(*name_of)(int index), int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(name, name_of(i)) == 0)
            return i;
    return -1;
}

static const char *event_name(int index)
{
    return event_names[index];
}

static const char *op_name(int index)
{
    return fault_op_name((fault_op)index);
}

static const char *fault_name(int index)
{
    return sim_fault_name((sim_fault)index);
}

static const char *setting_name(int index)
{
    return settings[index].name;
}

static bool read_event(const char *line, sim_plan *made)
{
    double     at       = 0;
    char       kind[40] = "", op[40] = "any", fault[40] = "none";
    plan_event event = {.process = 0};
    int        got   = sscanf(line, "at %lf %39s process %d value %" SCNd64 " %39s %39s", &at, kind,
                              &event.process, &event.value, op, fault);
    int        found = find_name(kind, event_name, plan_event_count);
    event.op         = find_name(op, op_name, fault_op_count);
    event.fault      = find_name(fault, fault_name, SIM_FAULT_COUNT);
    event.at         = (int64_t)(at * 1e6 + 0.5);
    event.kind       = (plan_event_kind)found;
    if (got < 2 || found < 0 || event.op < 0 || event.fault < 0 || event.process < 0 ||
        event.process >= made->settings.processes || made->event_count == PLAN_EVENTS_MAX)
        return false;
    add_event(made, event);
    return true;
}

static bool read_line(const char *line, sim_plan *made)
{
    char    name[40];
    int64_t value = 0;
    if (line[0] == '#' || line[0] == '\n')
        return true;
    if (strncmp(line, "at ", 3) == 0)
        return read_event(line, made);
    if (sscanf(line, "seed %" SCNu64, &made->seed) == 1)
        return true;
    int found = sscanf(line, "%39s %" SCNd64, name, &value) == 2
                    ? find_name(name, setting_name, SETTING_COUNT)
                    : -1;
    if (found < 0 || value < settings[found].least || value > settings[found].most)
        return false;
    *setting_of(&made->settings, &settings[found]) = value;
    return true;
}

bool plan_read(FILE *file, sim_plan *made, char *why, size_t size)
{
    char line[400];
    memset(made, 0, sizeof *made);
    for (int i = 0; i < SETTING_COUNT; i++)
        *setting_of(&made->settings, &settings[i]) = settings[i].least;
    for (int number = 1; fgets(line, sizeof line, file) != NULL; number++)
        if (!read_line(line, made)) {
            snprintf(why, size, "line %d: no setting or event, or out of its range: %.80s", number,
                     line);
            return false;
        }
    return true;
}
