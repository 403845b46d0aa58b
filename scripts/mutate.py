#!/usr/bin/env python3
# mutate.py - plants the defects of tests/mutants and runs the tests that should see
# them. Started by scripts/mutate.sh, which gives it the servers; docs/TESTING.md says
# how it is used.
#
# A copy of the tree with a build folder of its own stands in build/mutate/JOB and is
# kept: a defect costs one compiled file and one linked library. Tests are linked with
# libpawl as a shared library, so they are built once; those that an entry names are built
# with its defect, as they may contain the file.
#
# Exit code: 0 enough were caught, 1 too few, or the list is wrong, 2 usage.
#
# SPDX-License-Identifier: Apache-2.0
import argparse
import collections
import json
import os
import queue
import random
import re
import resource
import selectors
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

import mutants
import mutants_cover
import mutants_drawn

RESULTS = "build/mutate/results.json"
SKIPPED = 77
SERVERS = ["postgres", "pgbouncer", "mariadb", "mysql", "mongodb", "rabbitmq"]  # one behind the one that it needs
LIMIT_LEAST = 60  # seconds; a busy machine is no hang
LIMIT_TIMES = 20  # of what the test took the last time
LIMIT_UNKNOWN = 300
NOT_SEEN = "no test but the long ones that were left out sees it"
FILE_BYTES_MAX = 4 << 30  # a defect that writes without end does not fill the disk
MEMORY_BYTES_MAX = 8 << 30
FAILED_LINE = re.compile(rb"^(\[  FAILED  \]|FAIL )")
# The libraries, and the command: a header may be compiled into it, too. The unit tests of the command include its sources.
LINKED = re.compile(
    r"^(?:(lib[^/]*\.so[^/:]*): C_(?:SHARED|MODULE)_LIBRARY_LINKER"
    r"|(pawl|tests/unit/test_command_[^/:]*): C_EXECUTABLE_LINKER)",
    re.M,
)
TOKEN = "PAWL_MUTATE_JOB"

Run = collections.namedtuple("Run", "verdict detail seconds")  # of one test
Test = collections.namedtuple("Test", "name command folder environment timeout is_long")


class ToolError(Exception):
    """The run cannot go on; the text says why."""


def say(text):
    print(f"mutate: {text}", file=sys.stderr, flush=True)


# ---- Processes --------------------------------------------------------------


def processes_of(token):
    """What was started by a test and still runs, also in a session of its own."""
    mark, found = f"{TOKEN}={token}".encode(), []
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            with open(f"/proc/{entry}/environ", "rb") as file:
                if mark in file.read().split(b"\0"):
                    found.append(int(entry))
        except OSError:
            pass
    return found


def end_processes(token):
    """Asked first: a server that a test started removes its shared memory then."""
    for number, patience in ((signal.SIGTERM, 2), (signal.SIGKILL, 5)):
        until = time.monotonic() + patience
        left = processes_of(token)
        for process in left:
            try:
                os.kill(process, number)
            except OSError:
                pass
        while left and time.monotonic() < until:
            time.sleep(0.02)
            left = processes_of(token)
        if not left:
            return


def set_limits():
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES_MAX, FILE_BYTES_MAX))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def read_output(process, log, seconds):
    """The line that told of a failure, or None at the end; raises TimeoutError."""
    until = time.monotonic() + seconds
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            if not selector.select(max(0, until - time.monotonic())):
                raise TimeoutError
            data = os.read(process.stdout.fileno(), 65536)
            if not data:
                return None
            log.write(data)
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                if FAILED_LINE.match(line):
                    return line.decode(errors="replace").strip()


def verdict_of(process, until):
    code = process.wait(max(0.1, until - time.monotonic()))
    if code == SKIPPED:
        return "skipped", "skipped"
    if code < 0:
        return "caught", f"died of signal {-code}"
    return ("caught", f"exit code {code}") if code else ("passed", "")


def run_test(test, limit, log_path, token, temporary, more=None):
    """One test to its end, its first failure or its limit."""
    os.makedirs(temporary, exist_ok=True)
    os.chmod(temporary, 0o755)
    environment = dict(os.environ, **test.environment)
    environment.update({TOKEN: token, "TMPDIR": temporary}, **(more or {}))
    environment.setdefault("PAWL_TEST_WHOLE", "yes")
    environment.setdefault("PAWL_SEED", "1")  # the same defect, the same verdict
    begin = time.monotonic()
    with open(log_path, "wb") as log, subprocess.Popen(
        test.command, cwd=test.folder, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        preexec_fn=set_limits,
    ) as process:
        try:
            line = read_output(process, log, limit)
            if line:
                verdict, detail = "caught", line
            else:
                verdict, detail = verdict_of(process, begin + limit)
        except (TimeoutError, subprocess.TimeoutExpired):
            verdict, detail = "caught", f"hung, ended after {limit:.0f} s"
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            end_processes(token)
    shutil.rmtree(temporary, ignore_errors=True)
    return Run(verdict, detail, time.monotonic() - begin)


# ---- The copy of the tree -----------------------------------------------------


def source_files(root):
    for folder, folders, files in os.walk(root):
        top = os.path.relpath(folder, root)
        if top == ".":
            folders[:] = [name for name in folders if name not in (".git", "build")]
        folders[:] = [name for name in folders if name != "node_modules"]
        for name in files:
            yield os.path.normpath(os.path.join(top, name))


def same_file(a, b):
    if os.path.islink(a) or os.path.islink(b):
        return os.path.islink(a) and os.path.islink(b) and os.readlink(a) == os.readlink(b)
    try:
        with open(a, "rb") as one, open(b, "rb") as two:
            return one.read() == two.read() and os.stat(a).st_mode == os.stat(b).st_mode
    except OSError:
        return False


class Tree:
    def __init__(self, root, number, compile_jobs, flags=""):
        self.root = root
        self.number = number
        self.flags = flags
        self.folder = os.path.join(root, "build", "mutate", str(number))
        self.tree = os.path.join(self.folder, "tree")
        self.build_folder = os.path.join(self.tree, "build")
        self.log = os.path.join(self.folder, "build.log")
        self.compile_jobs = compile_jobs
        self.sources = mutants.Sources(self.tree)
        self.changed = {}  # file that holds a defect: its text without
        self.linked = []
        self.test_targets = set()
        self.named = set()  # tests that were run so far: once built with a defect, always built
        self.environment = dict(os.environ)
        if shutil.which("ccache"):
            self.environment.setdefault("CMAKE_C_COMPILER_LAUNCHER", "ccache")
            self.environment.update(CCACHE_BASEDIR=self.tree, CCACHE_NOHASHDIR="1")

    def make(self):
        """Only what differs is written, so that only it is compiled again."""
        os.makedirs(self.tree, exist_ok=True)
        wanted = set(source_files(self.root))
        for path in set(source_files(self.tree)) - wanted:
            os.remove(os.path.join(self.tree, path))
        for path in wanted:
            source, target = os.path.join(self.root, path), os.path.join(self.tree, path)
            if not same_file(source, target):
                os.makedirs(os.path.dirname(target), exist_ok=True)
                if os.path.lexists(target):
                    os.remove(target)
                shutil.copy(source, target, follow_symlinks=False)
        # A defect may leave a parameter or a function unused.
        self.command("cmake", "--preset", "default", "-DPAWL_WERROR=OFF", f"-DCMAKE_C_FLAGS={self.flags}")
        self.command("ninja", "-C", self.build_folder, "-j", str(self.compile_jobs))
        listed = subprocess.run(
            ["ninja", "-C", self.build_folder, "-t", "targets", "all"],
            stdout=subprocess.PIPE, text=True, check=True,
        ).stdout
        self.linked = [library or command for library, command in LINKED.findall(listed)]
        self.test_targets = set(re.findall(r"^(test_\w+): phony$", listed, re.M))

    def run_logged(self, *arguments):
        with open(self.log, "ab") as log:
            return subprocess.run(
                arguments, cwd=self.tree, env=self.environment, stdin=subprocess.DEVNULL,
                stdout=log, stderr=subprocess.STDOUT,
            ).returncode == 0

    def command(self, *arguments):
        open(self.log, "wb").close()
        if not self.run_logged(*arguments):
            with open(self.log, encoding="utf-8", errors="replace") as log:
                sys.stderr.write(log.read()[-4000:])
            raise ToolError(f"the tree without a defect does not build; {self.log}")

    def write(self, path, text):
        with open(os.path.join(self.tree, path), "w", encoding="utf-8") as file:
            file.write(text)

    def restore(self):
        for path, text in self.changed.items():
            self.write(path, text)
        self.changed = {}

    def plant(self, mutant):
        """The user's tree may change meanwhile: this one is as it was at the start."""
        self.restore()
        for path, text in mutant.planted(self.sources).items():
            self.changed[path] = self.sources.text(path)
            self.write(path, text)

    def build_linked(self, tests=()):
        """The libraries, and the tests that are to run: a header, a source or a static library
        may be part of these."""
        self.named.update(self.test_targets.intersection(tests))
        open(self.log, "wb").close()
        return self.run_logged(
            "ninja", "-C", self.build_folder, "-j", str(self.compile_jobs), *self.linked,
            *sorted(self.named),
        )

    def build_error(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            lines = [line.strip() for line in log]
        return next((line for line in lines if "error" in line), "no line with 'error'")

    def tests(self):
        """Those of ctest, by name."""
        shown = subprocess.run(
            ["ctest", "--test-dir", self.build_folder, "--show-only=json-v1"],
            stdout=subprocess.PIPE, check=True,
        ).stdout
        found = {}
        for test in json.loads(shown)["tests"]:
            values = {value["name"]: value["value"] for value in test["properties"]}
            pairs = [line.split("=", 1) for line in values.get("ENVIRONMENT", [])]
            found[test["name"]] = Test(
                test["name"], test.get("command", []), values["WORKING_DIRECTORY"],
                dict(pairs), values.get("TIMEOUT", LIMIT_UNKNOWN), "long" in values.get("LABELS", []),
            )
        return found

    def temporary(self):
        base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else "/tmp"
        return f"{base}/pawl-mutate-{os.getpid()}-{self.number}"


# ---- What is kept between runs ------------------------------------------------


class Results:
    """Verdicts by the digest of what was planted, and how long the tests take."""

    def __init__(self, root):
        self.path = os.path.join(root, RESULTS)
        self.lock = threading.Lock()
        self.entries, self.times = {}, {}
        try:
            with open(self.path, encoding="utf-8") as file:
                kept = json.load(file)
            self.entries, self.times = kept["entries"], kept["times"]
        except (OSError, ValueError, KeyError):
            pass

    def save(self):
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            json.dump({"entries": self.entries, "times": self.times}, file, indent=1)
        os.replace(self.path + ".new", self.path)

    def put(self, mutant, verdict, test, detail, seconds, below=0):
        with self.lock:
            self.entries[mutant.digest()] = {
                "area": mutant.area.name, "name": mutant.name, "verdict": verdict,
                "test": test, "detail": detail, "seconds": round(seconds, 1), "below": below,
            }
            self.save()

    def get(self, mutant):
        return self.entries.get(mutant.digest())

    def forget(self, mutants_):
        """The test that saw one is kept, to be tried first."""
        for mutant in mutants_:
            kept = self.get(mutant)
            if kept:
                kept["verdict"], kept["detail"] = "open", ""

    def took(self, name, seconds):
        with self.lock:
            self.times[name] = round(seconds, 2)


def servers_of(mutant):
    """Those of its area, and those that the tests of its own are named after."""
    own = set(re.findall("mysql|mariadb|mongodb|rabbitmq|odbc", mutant.tests or ""))
    if own & {"mysql", "odbc"}:
        own |= {"mysql", "mariadb"}
    return own - {"odbc"} | set(mutant.area.servers)


# ---- One defect after another -------------------------------------------------


class Planter:
    """Shared by the jobs; what changes is behind its lock."""

    def __init__(self, options, results, chosen):
        self.options, self.results = options, results
        self.covered = mutants_cover.read(options.root) if options.drawn is not None else None
        self.waiting = queue.SimpleQueue()
        for mutant in chosen:
            self.waiting.put(mutant)
        self.count, self.done = len(chosen), 0
        self.lock = threading.Lock()
        self.sound, self.unsound = set(), set()  # tests that pass, or fail, without a defect
        self.stopped = None

    def limit(self, test):
        if self.options.limit:
            return self.options.limit
        known = self.results.times.get(test.name)
        if known is None:
            return min(test.timeout, LIMIT_UNKNOWN)
        return min(test.timeout, max(LIMIT_LEAST, LIMIT_TIMES * known))

    def order(self, mutant, tests):
        """The test that saw it last, those that should, the others of its area; the
        short ones of each first."""
        kept = self.results.get(mutant) or {}

        def place(name):
            named = mutant.tests and re.search(mutant.tests, name)
            time_known = self.results.times.get(name, 5)
            return (name != kept.get("test"), not named, time_known, name)

        if self.covered is not None:  # none: nobody runs this function
            covering = mutants_cover.tests_of(self.covered, mutant)
            return sorted(filter(tests.__contains__, covering), key=place)
        own = mutant.tests or mutant.area.tests
        if not any(re.search(own, name) for name in tests):
            mutant.fail(f"no test is named like '{own}'")
        chosen = [
            name for name in tests
            if (mutant.tests and re.search(mutant.tests, name))
            or (re.search(mutant.area.tests, name) and not tests[name].is_long)
        ]
        return sorted(chosen, key=place)

    def run(self, tree, test):
        ran = run_test(
            test, self.limit(test), os.path.join(tree.folder, "test.log"),
            f"{os.getpid()}-{tree.number}", tree.temporary(),
        )
        if ran.verdict == "passed":
            self.results.took(test.name, ran.seconds)
        return ran

    def is_sound(self, tree, test, again=False):
        """Without a defect the test passes: only then its failure says something."""
        if not again and (test.name in self.sound or test.name in self.unsound):
            return test.name in self.sound
        tree.restore()
        if not tree.build_linked():
            raise ToolError(f"the tree without a defect does not build; {tree.log}")
        passed = self.run(tree, test).verdict == "passed"
        with self.lock:
            (self.sound if passed else self.unsound).add(test.name)
            if not passed:
                self.sound.discard(test.name)
        if not passed:
            say(f"{test.name} fails without a defect; it counts for nothing")
        return passed

    def judge(self, tree, tests, mutant):
        """verdict, test, detail"""
        tree.plant(mutant)
        order = self.order(mutant, tests)
        if not tree.build_linked():
            return "does not build", "", tree.build_error()
        if not order:
            return "survived", "", "no test runs this function"
        below = (self.results.get(mutant) or {}).get("below", 0) if self.options.resume else 0
        ran_any = below > 0  # the tests that are shorter have passed with it
        short = [name for name in order if not self.is_left_out(name)]
        for name in short:
            if name in self.unsound or self.results.times.get(name, below) < below:
                continue
            self.show(tree, mutant, name)
            if not tree.build_linked([name]):
                return "does not build", "", tree.build_error()
            ran = self.run(tree, tests[name])
            if ran.verdict == "caught":
                if self.is_sound(tree, tests[name]):
                    return "caught", name, ran.detail
                tree.plant(mutant)
                tree.build_linked()
            ran_any = ran_any or ran.verdict == "passed"
        if short != order:
            return "open", "", NOT_SEEN
        return ("survived", "", "") if ran_any else ("not run", "", "every test was skipped")

    def is_left_out(self, name):
        longest, known = self.options.longest, self.results.times.get(name)
        return longest is not None and known is not None and known >= longest

    def show(self, tree, mutant, text):
        if sys.stderr.isatty():
            line = f"[{self.done + 1}/{self.count}] {mutant.area.name}: {mutant.name}: {text}"
            sys.stderr.write("\r\033[K" + line[: shutil.get_terminal_size().columns - 1])
            sys.stderr.flush()

    def tell(self, mutant, verdict, test, detail, seconds):
        with self.lock:
            self.done += 1
            mark = "\r\033[K" if sys.stderr.isatty() else ""
            by = f" ({test}: {detail})" if test else f" ({detail})" if detail else ""
            sys.stderr.write(
                f"{mark}[{self.done}/{self.count}] {verdict}: {mutant.area.name}: "
                f"{mutant.name}{by}, {seconds:.0f} s\n"
            )
            sys.stderr.flush()

    def work(self, tree):
        try:
            tree.make()
            tests = tree.tests()
            while self.stopped is None:
                try:
                    mutant = self.waiting.get_nowait()
                except queue.Empty:
                    break
                begin = time.monotonic()
                found = self.judge(tree, tests, mutant)
                seconds = time.monotonic() - begin
                below = self.options.longest if found[2] == NOT_SEEN else 0
                self.results.put(mutant, *found, seconds, below)
                self.tell(mutant, *found, seconds)
            tree.restore()
        except (ToolError, mutants.ListError, OSError, subprocess.SubprocessError) as error:
            self.stopped = str(error)

    def look_again(self, tree, chosen):
        """What a defect left behind may fail a test from then on: those that saw one
        pass at the end, too."""
        tests = tree.tests()
        seen = {}
        for mutant in chosen:
            kept = self.results.get(mutant)
            if kept and kept["verdict"] == "caught":
                seen.setdefault(kept["test"], []).append(mutant)
        for name in sorted(seen, key=lambda name: self.results.times.get(name, 5)):
            if name in self.sound and not self.is_sound(tree, tests[name], again=True):
                for mutant in seen[name]:
                    self.results.put(mutant, "open", name, "the test fails without it", 0)


def plant_all(root, options, results, chosen):
    planter = Planter(options, results, chosen)
    jobs = max(1, min(options.jobs, len(chosen)))
    trees = [
        Tree(root, number, max(1, (os.cpu_count() or 1) // jobs)) for number in range(1, jobs + 1)
    ]
    for tree in trees:
        os.makedirs(tree.folder, exist_ok=True)
    say(f"{len(chosen)} to plant, {jobs} at a time; {trees[0].folder}")
    threads = [threading.Thread(target=planter.work, args=(tree,), daemon=True) for tree in trees]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.2)
        if planter.stopped is None and not options.hasty:
            planter.look_again(trees[0], chosen)
    except KeyboardInterrupt:
        planter.stopped = "interrupted; go on with --resume"
    finally:
        for tree in trees:
            end_processes(f"{os.getpid()}-{tree.number}")
            shutil.rmtree(tree.temporary(), ignore_errors=True)
    if os.path.isdir(os.path.dirname(results.path)):
        results.save()
    return planter


# ---- What is said -------------------------------------------------------------


def tally(results, chosen):
    counts = collections.Counter()
    for mutant in chosen:
        kept = results.get(mutant)
        counts[kept["verdict"] if kept else "open"] += 1
    return counts


def share(counts):
    judged = counts["caught"] + counts["survived"]
    return 100.0 * counts["caught"] / judged if judged else 0.0


def print_table(results, areas, chosen, equivalent):
    print(f"{'area':10} {'planted':>8} {'caught':>8} {'survived':>9} {'of 100':>8} {'equivalent':>11}")
    names = dict.fromkeys([area.name for area in areas] + sorted(m.area.name for m in chosen))
    for name in [*names, "all"]:
        mine = [m for m in chosen if name in (m.area.name, "all")]
        same = [m for m in equivalent if name in (m.area.name, "all")]
        if not mine and not same:
            continue
        counts = tally(results, mine)
        judged = counts["caught"] + counts["survived"]
        print(
            f"{name:10} {judged:8} {counts['caught']:8} {counts['survived']:9} "
            f"{share(counts):8.1f} {len(same):11}"
        )


def print_rest(results, chosen):
    """Survivors with the command that repeats each; what was not judged, with the reason."""
    for wanted in ("survived", "does not build", "not run", "open"):
        for mutant in chosen:
            kept = results.get(mutant) or {"verdict": "open", "detail": "not planted yet"}
            if kept["verdict"] != wanted:
                continue
            reason = f": {kept['detail']}" if kept["detail"] else ""
            print(f"{wanted}: {mutant.area.name}: {mutant.name} ({', '.join(mutant.files)}){reason}")
            print(f"    scripts/mutate.sh --area {mutant.area.name} --only {shlex.quote(mutant.name)}")


def summarise(options, results, areas, chosen, equivalent):
    print_table(results, areas, chosen, equivalent)
    print_rest(results, chosen)
    counts = tally(results, chosen)
    # An operator may make what C refuses: that is no defect, and counts for nothing.
    unjudged = ("open",) if options.drawn is not None else ("does not build", "open")
    wrong = [verdict for verdict in unjudged if counts[verdict]]
    if wrong or (counts["not run"] and os.environ.get("PAWL_REQUIRE") == "all"):
        return 1
    sys.stdout.flush()
    if share(counts) < options.at_least and counts["caught"] + counts["survived"]:
        say(f"{share(counts):.1f} of 100 were caught, at least {options.at_least:g} are wanted")
        return 1
    return 0


def print_files(sources, chosen):
    """How many are planted in each file, and in 100 lines of it."""
    counts = collections.Counter(path for mutant in chosen for path in mutant.files)
    for path in sources.files(tuple(sorted({folder for mutant in chosen for folder in mutant.area.folders}))):
        print(f"{counts[path]:4} {100.0 * counts[path] / sources.text(path).count(chr(10)):6.1f}  {path}")


def write_tests(root, results, chosen):
    """Names in the list the test that saw each defect, where the named ones did not."""
    seen = {}
    for mutant in chosen:
        kept = results.get(mutant)
        if kept and kept["verdict"] == "caught":
            if not mutant.tests or not re.search(mutant.tests, kept["test"]):
                seen[(mutant.area.path, mutant.name)] = kept["test"]
    for path in sorted({path for path, _ in seen}):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            lines = file.read().split("\n")
        made, test = [], None
        for line in lines:
            if line.startswith("=== "):
                test = seen.get((path, line[4:].strip()))
            elif test and line.startswith("tests: "):
                continue
            elif test and line.startswith("in "):
                made.append(f"tests: {test}")
                test = None
            made.append(line)
        with open(os.path.join(root, path), "w", encoding="utf-8") as file:
            file.write("\n".join(made))
        say(f"{path}: tests named")


# ---- The command --------------------------------------------------------------


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        prog="scripts/mutate.sh",
        description="Plants the defects of tests/mutants, one at a time, in a copy of the tree, and "
        "says which of them the tests see.",
    )
    add = parser.add_argument
    add("--area", action="append", metavar="NAME", help="only this file of the list (again for more)")
    add("--only", metavar="REGEX", help="only defects with this name, or with a name or file like it")
    add("--sample", type=int, metavar="N", help="only so many of them, drawn by --seed")
    add("--drawn", type=int, metavar="N", help="instead of the list: so many defects that operators make "
        "from the source, drawn by --seed")
    add("--cover", action="store_true", help="of --drawn: see first which tests run which function, so that "
        "only these run later")
    add("--seed", type=int, metavar="S", help="of --sample and --drawn; another one each time")
    add("--jobs", type=int, default=1, metavar="N", help="so many at a time, each in a tree of its own; 1")
    add("--resume", action="store_true", help="only those without a verdict from an earlier run")
    add("--survivors", action="store_true", help="only those that survived an earlier run")
    add("--equivalent", action="store_true", help="only those said to be equivalent; caught ones are not")
    add("--at-least", type=float, default=95, metavar="N", help="fail below N caught of 100; 95")
    add("--limit", type=float, metavar="SECONDS", help="for each test, instead of one by what it took")
    add("--longest", type=float, metavar="SECONDS", help="leave out tests of so many and more; what no "
        "other one sees stays open for a later --resume")
    add("--hasty", action="store_true", help="leave out the look at the tests without a defect at the end")
    add("--write", action="store_true", help="name in the list the test that saw each defect")
    add("--list", action="store_true", help="print the names and go")
    add("--files", action="store_true", help="print how many are planted in each file and go")
    add("--patch", action="store_true", help="print the defects as a patch for `git apply` and go")
    add("--check", action="store_true", help="only see that each of them has its place in the source")
    add("--summary", action="store_true", help="only print what earlier runs found")
    add("--root", default=os.path.join(os.path.dirname(__file__), ".."), help=argparse.SUPPRESS)
    add("--needs-servers", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def is_chosen(options, mutant):
    if options.area and mutant.area.name not in options.area:
        return False
    if bool(mutant.equivalent) != options.equivalent:
        return False
    names = [mutant.name] + mutant.files
    return not options.only or options.only == mutant.name or any(
        re.search(options.only, name) for name in names
    )


def choose(options, sources, areas, results):
    names = [area.name for area in areas]
    for name in options.area or []:
        if name not in names and options.drawn is None:
            raise ToolError(f"--area '{name}' is none of {' '.join(names)}")
    chosen = draw_new(options, sources, areas) if options.drawn is not None else [
        m for area in areas for m in area.mutants if is_chosen(options, m)
    ]
    if options.survivors:
        chosen = [m for m in chosen if (results.get(m) or {}).get("verdict") == "survived"]
    if not chosen:
        raise ToolError("no defect is chosen by these arguments")
    return draw(options, chosen)


def seed_of(options):
    return options.seed if options.seed is not None else random.SystemRandom().randrange(10**6)


def draw_new(options, sources, areas):
    if options.drawn < 1:
        raise ToolError(f"--drawn {options.drawn} is less than 1")
    if options.survivors and options.seed is None or options.resume and options.seed is None:
        raise ToolError("--resume and --survivors need the --seed of the draw")

    def is_wanted(area, path):
        return re.search(options.only or "", path) and area in (options.area or [area])

    seed = seed_of(options)
    chosen = mutants_drawn.draw(sources, areas, is_wanted, options.drawn, seed)
    say(f"{len(chosen)} are drawn from the source; the same ones: --drawn {options.drawn} --seed {seed}")
    return chosen


def draw(options, chosen):
    """A part that says about as much as the whole, in the order of the list."""
    if options.sample is None or options.sample >= len(chosen):
        return chosen
    if options.sample < 1:
        raise ToolError(f"--sample {options.sample} is less than 1")
    seed = seed_of(options)
    say(f"{options.sample} of {len(chosen)} are drawn; the same ones: --sample {options.sample} --seed {seed}")
    drawn = set(random.Random(seed).sample(range(len(chosen)), options.sample))
    return [mutant for number, mutant in enumerate(chosen) if number in drawn]


def print_only(options, sources, chosen):
    """True when the arguments asked for nothing but a look."""
    if options.list:
        for mutant in chosen:
            print(f"{mutant.area.name}: {mutant.name}")
    elif options.files:
        print_files(sources, chosen)
    elif options.patch:
        for mutant in chosen:
            print(mutant.patch(sources), end="")
    return options.list or options.files or options.patch


def check(sources, areas):
    everything = [mutant for area in areas for mutant in area.mutants]
    errors = mutants.errors_of(sources, everything)
    for error in errors:
        print(error)
    print(f"{len(everything)} planted defects, {len(errors)} do not fit the source")
    return 1 if errors else 0


def is_left(options, kept):
    was_short = options.resume and kept.get("detail") == NOT_SEEN
    if was_short and options.longest is not None and options.longest <= kept.get("below", 0):
        return False
    return kept.get("verdict") not in ("caught", "survived")


def learn_cover(root, jobs):
    tree = Tree(root, "cover", (os.cpu_count() or 1), mutants_cover.FLAGS)
    tree.make()

    def run(test, number, more):
        log = os.path.join(tree.folder, f"test{number}.log")
        return run_test(test, max(300, test.timeout), log, f"{os.getpid()}-cover-{number}",
                        f"{tree.temporary()}-{number}", more)

    mutants_cover.learn(root, tree, run, say, jobs)


def plant_and_say(options, sources, areas, results, chosen):
    root = sources.root
    if options.cover:
        learn_cover(root, options.jobs)
    if not options.summary:
        errors = mutants.errors_of(sources, chosen)
        if errors:
            raise mutants.ListError("\n".join(errors))
        if not options.resume:
            results.forget(chosen)
        left = [m for m in chosen if is_left(options, results.get(m) or {})]
        planter = plant_all(root, options, results, left) if left else None
        if planter and planter.stopped is not None:
            raise ToolError(planter.stopped)
    if options.write:
        write_tests(root, results, chosen)
    equivalent = [m for area in areas for m in area.mutants if m.equivalent]
    return summarise(options, results, areas, chosen, equivalent)


def main(arguments):
    options = parse_arguments(arguments)
    root = os.path.realpath(options.root)
    try:
        re.compile(options.only or "")
        sources = mutants.Sources(root)
        areas = mutants.read_areas(sources)
        if options.check and not options.needs_servers:
            return check(sources, areas)
        results = Results(root)
        chosen = choose(options, sources, areas, results)
        if options.needs_servers:
            looks = options.list or options.files or options.patch or options.summary or options.check
            names = {name for mutant in chosen for name in servers_of(mutant)}
            print(*([] if looks else sorted(names, key=SERVERS.index)))
            return 0
        if print_only(options, sources, chosen):
            return 0
        return plant_and_say(options, sources, areas, results, chosen)
    except (ToolError, mutants.ListError) as error:
        print(f"mutate: {error}", file=sys.stderr)
        return 1 if isinstance(error, mutants.ListError) else 2
    except re.error as error:
        print(f"mutate: '{options.only}' is no regular expression: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
