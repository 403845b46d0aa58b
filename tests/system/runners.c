/* runners.c - several processes that could all deliver one outbox, killed and stopped
 * again and again while it fills.
 *
 *     runners URL FILE SECONDS SEED     the whole test
 *     runners --runner URL FILE SEED    one runner; the test starts these
 *
 * The test fills the outbox of the endpoint "source" with rows of many sources, each
 * row with its number in its source. Every runner's outbound transports write what they are given to
 * the end of FILE, which stands for the receiver: there a number may come again, but
 * none before the one that precedes it. Some deliveries fail, some after they were
 * written down. Meanwhile whoever delivers is killed, or stopped for longer than its
 * lease lasts and then let go on, and the time until another one delivers is taken.
 * PAWL_TEST_CUT may hold a command that breaks connections to the store: it runs now and
 * then.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pawl/driver.h>
#include <pawl/operate.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SOURCES 50
#define RUNNERS 4
#define TAKE_OVER_MAX PAWL_SECONDS(15)
#define TAKE_OVER_SLACK PAWL_SECONDS(2) /* of a machine that does other things as well */
#define FINISH_MAX PAWL_SECONDS(90)

/* A line of the receiver's book is a letter that it saw, written in one call. None goes over
 * the end of a page: who reads, or kills the writer, could find half of it there. */
typedef struct entry {
    int32_t source;
    int32_t number;
    int32_t pid;
    int32_t unused[3];
    int64_t at; /* monotonic */
} entry;
_Static_assert(4096 % sizeof(entry) == 0, "lines fill pages");

static int64_t monotonic_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void rest(int64_t microseconds)
{
    struct timespec span = {.tv_sec  = microseconds / 1000000,
                            .tv_nsec = microseconds % 1000000 * 1000};
    nanosleep(&span, NULL);
}

static void check(bool is_good, const char *what, const pawl_error *error)
{
    if (is_good)
        return;
    printf("FAILED: %s: %s\n", what, error != NULL ? error->text : strerror(errno));
    fflush(stdout);
    _exit(1);
}

/* The database may be in the hands of somebody who was stopped, and connections break. */
static bool is_passing(pawl_code code)
{
    return code == PAWL_EBUSY || code == PAWL_ETIMEOUT || code == PAWL_ELOST ||
           code == PAWL_EUNKNOWN || code == PAWL_EUNREACHABLE;
}

/* ---- A runner --------------------------------------------------------------- */

#define NOTE(F) F(INT32, number)
PAWL_RECORD(note, NOTE);

static pawl_code on_note(pawl_context *ctx, const note *message)
{
    (void)ctx, (void)message;
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_note, note);

static const pawl_endpoint_spec source_spec = {
    .name = "source", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_note)})};
static const pawl_application application = {PAWL_APPLICATION_HEAD, .name = "runners",
                                             .endpoints = PAWL_ENDPOINTS(&source_spec)};

typedef struct receiver {
    int         fd;
    pawl_random random;
} receiver;

static void write_down(const receiver *self, const pawl_delivery *item)
{
    entry made = {.pid = (int32_t)getpid(), .at = monotonic_now()};
    check(sscanf(item->message.body.data, "{\"source\":%d,\"number\":%d", &made.source,
                 &made.number) == 2,
          "a body", NULL);
    check(write(self->fd, &made, sizeof made) == (ssize_t)sizeof made, "write", NULL);
}

/* One in 60 fails before it is written down, one in 60 after. After a failure nothing
 * else of the call takes effect, as the promise of one of the outbound transports wants it. */
static pawl_code receive(pawl_transport *transport, pawl_delivery *items, size_t count,
                         pawl_arena *arena, pawl_error *error)
{
    receiver *self = transport->context;
    (void)arena;
    if (pawl_random_below(&self->random, 100) == 0)
        return pawl_error_set(error, PAWL_EBUSY, "the receiver is away");
    for (size_t i = 0; i < count; i++) {
        uint64_t chance = pawl_random_below(&self->random, 60);
        if (chance != 0)
            write_down(self, &items[i]);
        if (chance > 1)
            continue;
        for (; i < count; i++) {
            items[i].outcome = PAWL_ATTEMPT_TRANSIENT;
            items[i].error   = PAWL_TEXT("no answer");
        }
    }
    return PAWL_OK;
}

static const pawl_transport_ops plain_outbound   = PAWL_OUTBOUND(receive);
static const pawl_transport_ops ordered_outbound = {
    .ops_size = sizeof(pawl_transport_ops), .deliver = receive, .promises = PAWL_TRANSPORT_PREFIX};

static pawl_endpoint *running;

static void on_signal(int number)
{
    (void)number;
    pawl_endpoint_stop(running);
}

static int run_runner(const char *url, const char *file, uint64_t seed)
{
    pawl_error       error    = PAWL_ERROR_INIT;
    receiver         self     = {.fd = open(file, O_WRONLY | O_APPEND)};
    const pawl_route routes[] = {
        {.name = "plain", .outbound = &plain_outbound, .context = &self},
        {.name = "ordered", .outbound = &ordered_outbound, .context = &self},
        {.name = NULL}};
    pawl_endpoint_options options = PAWL_ENDPOINT_OPTIONS_INIT;
    options.store                 = url;
    options.routes                = routes;
    options.outbox_attempts       = 1000;
    options.outbox_delay          = PAWL_MILLISECONDS(20);
    options.outbox_delay_max      = PAWL_MILLISECONDS(500);
    pawl_random_seed(&self.random, seed);
    check(self.fd >= 0, file, NULL);
    pawl_log_set(NULL, PAWL_LOG_ERROR, NULL);
    pawl_code code;
    do
        code = pawl_endpoint_create(&application, NULL, &options, &running, &error);
    while (is_passing(code));
    check(code == PAWL_OK, "a runner's endpoint", &error);
    signal(SIGTERM, on_signal);
    code = pawl_endpoint_run(running, &error);
    check(code == PAWL_OK, "a runner", &error);
    pawl_endpoint_destroy(running);
    return 0;
}

/* ---- The producer -------------------------------------------------------------- */

typedef struct producer {
    const char            *url;
    pawl_random            random;
    int32_t                counts[SOURCES]; /* rows committed so far, ... */
    int64_t                count;           /* ... and of all sources */
    const _Atomic int64_t *arrived;
    atomic_bool            is_over;
    pthread_t              thread;
} producer;

#define ROWS_MAX 24      /* of one commit */
#define BACKLOG_MAX 3000 /* any machine delivers as many in FINISH_MAX */

static void make_row(const producer *self, int32_t source, int32_t version, int32_t index,
                     pawl_arena *arena, pawl_outbox_add *row)
{
    int32_t   number = self->counts[source] + index + 1;
    pawl_text body   = pawl_arena_printf(arena, "{\"source\":%d,\"number\":%d}", source, number);
    pawl_text id     = pawl_arena_printf(arena, "%d-%d", source, number);
    pawl_text name   = pawl_arena_printf(arena, "Flow/%d", source);
    *row             = (pawl_outbox_add){
                    .dispatch_id = pawl_dispatch_id_make(PAWL_TEXT("source"), name, version, index),
                    .source      = name,
                    .version     = version,
                    .index       = index,
                    .endpoint    = PAWL_TEXT("source"),
                    .destination = number % 3 == 0 ? PAWL_TEXT("plain") : PAWL_TEXT("ordered"),
                    .message     = {.id = id, .type = PAWL_TEXT("note"), .body = body},
                    .at          = pawl_clock_now(NULL)};
}

/* One commit: a few rows of one source. Again until it is done, which adds what is not
 * there yet: their ids are known. */
static void produce(producer *self, pawl_store *store, pawl_arena *arena)
{
    pawl_error      error  = PAWL_ERROR_INIT;
    int32_t         source = (int32_t)pawl_random_below(&self->random, SOURCES);
    int32_t         count  = 1 + (int32_t)pawl_random_below(&self->random, ROWS_MAX);
    pawl_outbox_add rows[ROWS_MAX];
    pawl_code       code;
    for (int32_t i = 0; i < count; i++)
        make_row(self, source, self->counts[source] + 1, i, arena, &rows[i]);
    do {
        pawl_changes changes     = {.group_count = 1, .unit_count = 1, .now = pawl_clock_now(NULL)};
        changes.outbox_add.items = rows;
        changes.outbox_add.count = (size_t)count;
        code                     = pawl_store_commit(store, &changes, NULL, &error);
    } while (is_passing(code));
    check(code == PAWL_OK, "a commit of the producer", &error);
    self->counts[source] += count;
    self->count += count;
}

static void *run_producer(void *argument)
{
    producer   *self  = argument;
    pawl_error  error = PAWL_ERROR_INIT;
    pawl_store *store = NULL;
    pawl_arena *arena = pawl_arena_create(0);
    check(pawl_store_open(self->url, NULL, &store, &error) == PAWL_OK, "the producer's store",
          &error);
    while (!atomic_load(&self->is_over)) {
        if (self->count - atomic_load(self->arrived) < BACKLOG_MAX)
            produce(self, store, arena);
        pawl_arena_reset(arena);
        rest(PAWL_MILLISECONDS(20) + (int64_t)pawl_random_below(&self->random, 40000));
    }
    pawl_arena_destroy(arena);
    pawl_store_close(store);
    return NULL;
}

/* ---- The receiver's book ----------------------------------------------------------- */

typedef struct book {
    FILE           *file;
    int32_t         last[SOURCES];
    int64_t         count, repeated;
    _Atomic int64_t arrived; /* for the first time */
    int32_t         pid;     /* of the last writer */
    int64_t         at;
    int             disk; /* of a file that is written to take the disk's time */
    int64_t         disk_due;
} book;

/* Lines that were written since the last look. */
static void read_on(book *self)
{
    entry next;
    clearerr(self->file);
    while (fread(&next, sizeof next, 1, self->file) == 1) {
        if (next.number > self->last[next.source] + 1) {
            printf("FAILED: source %d: number %d came when %d was the last\n", next.source,
                   next.number, self->last[next.source]);
            fflush(stdout);
            _exit(1);
        }
        self->repeated += next.number <= self->last[next.source];
        if (next.number > self->last[next.source]) {
            self->last[next.source] = next.number;
            atomic_fetch_add(&self->arrived, 1);
        }
        self->count++;
        self->pid = next.pid;
        self->at  = next.at;
    }
}

/* Waits a moment. Returns how much longer that took, with a write to the disk now and then,
 * when it was much: the machine stood still, and so did whoever is waited for. */
static int64_t rest_and_read_on(book *self)
{
    int64_t begin = monotonic_now();
    rest(PAWL_MILLISECONDS(5));
    if (begin >= self->disk_due) {
        check(pwrite(self->disk, "x", 1, 0) == 1 && fdatasync(self->disk) == 0, "the disk", NULL);
        self->disk_due = monotonic_now() + PAWL_MILLISECONDS(100);
    }
    read_on(self);
    int64_t lost = monotonic_now() - begin - PAWL_MILLISECONDS(5);
    return lost > PAWL_MILLISECONDS(100) ? lost : 0;
}

/* The runner that delivers now; waits for a delivery that is made from now on. */
static pid_t who_delivers(book *self)
{
    int64_t begin = monotonic_now(), end = begin + TAKE_OVER_MAX + TAKE_OVER_SLACK;
    do {
        end += rest_and_read_on(self);
        check(monotonic_now() < end, "nobody delivers", &(pawl_error){.text = "for 17 seconds"});
    } while (self->at < begin);
    return self->pid;
}

/* ---- Kills and stops ------------------------------------------------------------------- */

typedef struct test {
    const char *program, *url, *path;
    pawl_random random;
    pid_t       runners[RUNNERS];
    book        seen;
    pawl_store *store; /* to look */
    pawl_store *probe; /* has a short deadline */
    int64_t     longest;
    int         kills, stops, cuts;
} test;

static void start_runner(test *self, int index)
{
    char seed[24];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)pawl_random_next(&self->random));
    pid_t pid = fork();
    check(pid >= 0, "fork", NULL);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* when the test fails */
        execl(self->program, self->program, "--runner", self->url, self->path, seed, (char *)NULL);
        _exit(127);
    }
    self->runners[index] = pid;
}

static int index_of(const test *self, pid_t pid)
{
    int index = 0;
    while (index < RUNNERS && self->runners[index] != pid)
        index++;
    check(index < RUNNERS, "a runner that is not known delivered", &(pawl_error){.text = ""});
    return index;
}

static void note_take_over(test *self, const char *what, pid_t before, int64_t begin)
{
    int64_t end = begin + TAKE_OVER_MAX + TAKE_OVER_SLACK;
    do {
        end += rest_and_read_on(&self->seen);
        check(monotonic_now() < end, what, &(pawl_error){.text = "no take-over within 15 s"});
    } while (self->seen.pid == before || self->seen.at < begin);
    int64_t span = self->seen.at - begin;
    printf("%s: another runner delivers after %.2f s\n", what, (double)span / 1e6);
    self->longest = span > self->longest ? span : self->longest;
}

static void kill_leader(test *self)
{
    pid_t   pid   = who_delivers(&self->seen);
    int     index = index_of(self, pid);
    int64_t begin = monotonic_now();
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    note_take_over(self, "killed", pid, begin);
    start_runner(self, index);
    self->kills++;
}

/* The commit that is tried is refused, unless somebody has locked what it needs. */
static bool is_locked(test *self)
{
    pawl_error          error    = PAWL_ERROR_INIT;
    pawl_refusals       refused  = {.arena = pawl_arena_create(0)};
    pawl_checkpoint_set change   = {.name = PAWL_TEXT("outbox/source"),
                                    .from = INT64_C(1) << 60,
                                    .to   = (INT64_C(1) << 60) + 1,
                                    .at   = pawl_clock_now(NULL)};
    pawl_changes        changes  = {.group_count = 1, .unit_count = 1, .now = change.at};
    changes.checkpoint_set.items = &change;
    changes.checkpoint_set.count = 1;
    pawl_code code               = pawl_store_commit(self->probe, &changes, &refused, &error);
    check(code != PAWL_OK || refused.count == 1, "the probe", &(pawl_error){.text = "was taken"});
    pawl_arena_destroy(refused.arena);
    return code != PAWL_OK;
}

static volatile sig_atomic_t stopped;

static void let_go(int number)
{
    (void)number;
    kill((pid_t)stopped, SIGCONT);
}

/* On a server any moment is good: the one that takes over ends what the other one has under
 * way. In a file whoever is stopped within a commit keeps its lock, and nobody can take over:
 * another moment is tried. It is let go after a second, because what stands before SQLite's
 * lock may wait far beyond its deadline. */
static pid_t stop_at_a_good_moment(test *self, int64_t *begin)
{
    signal(SIGALRM, let_go);
    for (;;) {
        pid_t pid = who_delivers(&self->seen);
        rest((int64_t)pawl_random_below(&self->random, 30000));
        stopped = (sig_atomic_t)pid;
        *begin  = monotonic_now();
        kill(pid, SIGSTOP);
        waitpid(pid, NULL, WUNTRACED); /* its threads run on until one takes the signal */
        int64_t asked = monotonic_now();
        alarm(1);
        bool is_bad = strncmp(self->url, "sqlite:", 7) == 0 && is_locked(self);
        alarm(0);
        if (!is_bad && monotonic_now() - asked < PAWL_MILLISECONDS(900))
            return pid;
        kill(pid, SIGCONT);
    }
}

static void stop_leader(test *self)
{
    int64_t begin;
    pid_t   pid = stop_at_a_good_moment(self, &begin);
    note_take_over(self, "stopped", pid, begin);
    rest((int64_t)pawl_random_below(&self->random, 500000));
    kill(pid, SIGCONT);
    self->stops++;
}

/* A runner that waits for its turn, gone for a moment. */
static void disturb_another(test *self)
{
    pid_t leader = who_delivers(&self->seen);
    int   index  = (int)pawl_random_below(&self->random, RUNNERS);
    pid_t pid    = self->runners[index];
    if (pid == leader)
        return;
    if (pawl_random_below(&self->random, 2) == 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        start_runner(self, index);
        return;
    }
    kill(pid, SIGSTOP);
    rest((int64_t)pawl_random_below(&self->random, 300000));
    kill(pid, SIGCONT);
}

/* Every role: the leader, runners that wait, the producer. */
static void cut_connections(test *self)
{
    const char *command = getenv("PAWL_TEST_CUT");
    if (command == NULL)
        return;
    check(system(command) == 0, command, NULL);
    self->cuts++;
}

static void trouble(test *self, int64_t duration)
{
    int64_t end = monotonic_now() + duration;
    for (int i = 0; i < 2 || monotonic_now() < end; i++) {
        disturb_another(self);
        for (uint64_t cuts = pawl_random_below(&self->random, 4); cuts > 0; cuts--) {
            cut_connections(self);
            rest((int64_t)pawl_random_below(&self->random, 300000));
        }
        if (i % 2 == 0)
            kill_leader(self);
        else
            stop_leader(self);
        rest((int64_t)pawl_random_below(&self->random, 400000));
    }
}

/* ---- The end -------------------------------------------------------------------------- */

static bool is_all_there(test *self, const producer *made)
{
    read_on(&self->seen);
    for (int i = 0; i < SOURCES; i++)
        if (self->seen.last[i] != made->counts[i])
            return false;
    pawl_stats  stats = PAWL_STATS_INIT;
    pawl_error  error = PAWL_ERROR_INIT;
    pawl_arena *arena = pawl_arena_create(0);
    pawl_code   code;
    do
        code = pawl_store_stats(self->store, pawl_clock_now(NULL), arena, &stats, &error);
    while (is_passing(code));
    check(code == PAWL_OK, "stats", &error);
    check(stats.outbox_dead == 0, "dead rows", &(pawl_error){.text = "there are some"});
    pawl_arena_destroy(arena);
    return stats.outbox_pending == 0 && stats.outbox_blocked == 0;
}

static void finish(test *self, const producer *made)
{
    int64_t end = monotonic_now() + FINISH_MAX;
    while (!is_all_there(self, made)) {
        check(monotonic_now() < end, "not all was delivered", &(pawl_error){.text = "in time"});
        rest(PAWL_MILLISECONDS(50));
    }
    for (int i = 0; i < RUNNERS; i++)
        kill(self->runners[i], SIGTERM);
    for (int i = 0; i < RUNNERS; i++) {
        int status = 0;
        waitpid(self->runners[i], &status, 0);
        check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a runner",
              &(pawl_error){.text = "did not end well"});
    }
}

static void open_stores(test *self)
{
    pawl_error         error   = PAWL_ERROR_INIT;
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    int64_t            end     = monotonic_now() + FINISH_MAX;
    options.deadline           = PAWL_MILLISECONDS(700);
    check(pawl_store_open(self->url, NULL, &self->store, &error) == PAWL_OK, "the store", &error);
    /* Its connection may take longer than the calls to come. */
    while (pawl_store_open(self->url, &options, &self->probe, &error) != PAWL_OK)
        check(monotonic_now() < end, "the probe", &error);
}

static void open_book(book *self, const char *path)
{
    char disk[1000];
    snprintf(disk, sizeof disk, "%s.disk", path);
    self->file = fopen(path, "w+");
    check(self->file != NULL, path, NULL);
    self->disk = open(disk, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    check(self->disk >= 0, disk, NULL);
}

static int run_test(const char *program, const char *url, const char *path, int seconds,
                    uint64_t seed)
{
    test     self = {.program = program, .url = url, .path = path};
    producer made = {.url = url, .arrived = &self.seen.arrived};
    printf("seed %llu\n", (unsigned long long)seed);
    pawl_random_seed(&self.random, seed);
    pawl_random_seed(&made.random, seed + 1);
    open_book(&self.seen, path);
    open_stores(&self);
    for (int i = 0; i < RUNNERS; i++)
        start_runner(&self, i);
    check(pthread_create(&made.thread, NULL, run_producer, &made) == 0, "a thread", NULL);
    trouble(&self, PAWL_SECONDS(seconds));
    atomic_store(&made.is_over, true);
    pthread_join(made.thread, NULL);
    finish(&self, &made);
    pawl_store_close(self.probe);
    pawl_store_close(self.store);
    close(self.seen.disk);
    fclose(self.seen.file);
    printf("%lld deliveries, %lld of them again; %d kills, %d stops, %d cuts; longest take-over "
           "%.2f s\n",
           (long long)self.seen.count, (long long)self.seen.repeated, self.kills, self.stops,
           self.cuts, (double)self.longest / 1e6);
    return 0;
}

int main(int count, char **words)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (count == 5 && strcmp(words[1], "--runner") == 0)
        return run_runner(words[2], words[3], strtoull(words[4], NULL, 10));
    if (count == 5)
        return run_test(words[0], words[1], words[2], atoi(words[3]), strtoull(words[4], NULL, 10));
    fputs("usage: runners URL FILE SECONDS SEED\n", stderr);
    return 2;
}
