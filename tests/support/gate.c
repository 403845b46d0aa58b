/* gate.c - a gate that blocks code until the test opens it, and recorded log lines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/gate.h"

/* Threads wait in gate_pass until the gate is opened. */
static struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t  moved;
    int             entered;
    bool            is_open;
} gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, true};

void gate_close(void)
{
    pthread_mutex_lock(&gate.mutex);
    gate.entered = 0;
    gate.is_open = false;
    pthread_mutex_unlock(&gate.mutex);
}

void gate_open(void)
{
    pthread_mutex_lock(&gate.mutex);
    gate.is_open = true;
    pthread_cond_broadcast(&gate.moved);
    pthread_mutex_unlock(&gate.mutex);
}

atomic_int            gate_ended;
static pthread_key_t  end_key;
static pthread_once_t end_once = PTHREAD_ONCE_INIT;

static void note_end(void *value)
{
    atomic_fetch_add(&gate_ended, 1);
}

static void make_key(void)
{
    pthread_key_create(&end_key, note_end);
}

void gate_pass(void)
{
    pthread_once(&end_once, make_key);
    pthread_setspecific(end_key, &gate);
    pthread_mutex_lock(&gate.mutex);
    gate.entered++;
    pthread_cond_broadcast(&gate.moved);
    while (!gate.is_open)
        pthread_cond_wait(&gate.moved, &gate.mutex);
    pthread_mutex_unlock(&gate.mutex);
}

void gate_wait(int count)
{
    patience left = patience_of(THREAD_SECONDS);
    for (;;) {
        pthread_mutex_lock(&gate.mutex);
        int entered = gate.entered;
        pthread_mutex_unlock(&gate.mutex);
        if (entered >= count)
            return;
        patience_wait(&left, "%d stand in the gate, waited for %d", entered, count);
    }
}

/* ---- The log ---------------------------------------------------------------------- */

static struct {
    pthread_mutex_t mutex;
    char            lines[20][600];
    int             count;
} lines = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void keep_line(pawl_log_level level, const char *text, void *context)
{
    pthread_mutex_lock(&lines.mutex);
    if (lines.count < 20)
        snprintf(lines.lines[lines.count++], sizeof lines.lines[0], "%d %s", (int)level, text);
    pthread_mutex_unlock(&lines.mutex);
}

int gate_said(const char *part)
{
    int count = 0;
    pthread_mutex_lock(&lines.mutex);
    for (int i = 0; i < lines.count; i++)
        count += strstr(lines.lines[i], part) != NULL;
    pthread_mutex_unlock(&lines.mutex);
    return count;
}

void gate_wait_until_said(const char *part)
{
    patience left = patience_of(THREAD_SECONDS);
    while (gate_said(part) == 0)
        patience_wait(&left, "nobody says: %s", part);
}

void gate_listen(void)
{
    pthread_mutex_lock(&lines.mutex);
    lines.count = 0;
    pthread_mutex_unlock(&lines.mutex);
    pawl_log_set(keep_line, PAWL_LOG_INFO, NULL);
}
