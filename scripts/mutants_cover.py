#!/usr/bin/env python3
# mutants_cover.py - which tests run which function, so that a generated defect meets only tests that can see it.
#
# A tree is compiled with -finstrument-functions, and each test runs once with scripts/mutants_cover.c preloaded. The result
# is kept in build/mutate/cover.json: for each function, the tests that entered it.
#
# SPDX-License-Identifier: Apache-2.0
import bisect
import json
import os
import queue
import shutil
import subprocess
import threading

FILE = os.path.join("build", "mutate", "cover.json")
FLAGS = "-finstrument-functions"


def read(root):
    """Names of tests by function; None when nobody has looked yet."""
    try:
        with open(os.path.join(root, FILE), encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def tests_of(covered, mutant):
    name = mutant.name.split(":")[0]
    keys = {name} | {f"{os.path.basename(path)}:{name}" for path in mutant.files}
    # An inline function of a header is part of many files, and a hidden one stands behind the wrong one.
    if name.startswith("pawl") or any(path.endswith(".h") for path in mutant.files):
        keys.update(key for key in covered if key.endswith(f":{name}"))
    return sorted({test for key in keys for test in covered.get(key, [])})


class Symbols:
    """Functions of a program or library by their address; a static one as FILE.c:NAME."""

    def __init__(self, path):
        listed = subprocess.run(["readelf", "-sW", path], stdout=subprocess.PIPE, text=True, check=False).stdout
        found, source = set(), ""
        for words in map(str.split, listed.splitlines()):
            if len(words) < 8:
                continue
            if words[3] == "FILE":
                source = words[7]
            elif words[3] == "FUNC" and words[6] != "UND":
                name = words[7].split("@")[0].split(".")[0]
                found.add((int(words[1], 16), f"{source}:{name}" if words[4] == "LOCAL" else name))
        self.begins, self.names = [begin for begin, _ in sorted(found)], [name for _, name in sorted(found)]

    def name(self, address):
        place = bisect.bisect_right(self.begins, address) - 1
        return self.names[place] if place >= 0 else None


def entered(folder, symbols):
    """The functions of which the files of one test tell."""
    names = set()
    for file_name in os.listdir(folder):
        path = file_name.replace("%", "/")
        if path not in symbols:
            symbols[path] = Symbols(path)
        with open(os.path.join(folder, file_name), "rb") as file:
            seen = file.read()
        at = seen.find(1)
        while at >= 0:
            names.add(symbols[path].name(at))
            at = seen.find(1, at + 1)
    return names - {None}


def compile_hook(tree):
    hook = os.path.join(tree.folder, "cover.so")
    source = os.path.join(tree.tree, "scripts", "mutants_cover.c")
    subprocess.run(["cc", "-std=c17", "-D_GNU_SOURCE", "-O2", "-shared", "-fPIC", "-o", hook, source], check=True)
    return hook


def learn(root, tree, run, say, jobs):
    """Runs every test but those of --long; `run` is that of one, with more variables."""
    tests = [test for test in tree.tests().values() if not test.is_long]
    waiting, lock, covered, symbols = queue.SimpleQueue(), threading.Lock(), {}, {}
    hook, done = compile_hook(tree), [0]
    for test in tests:
        waiting.put(test)

    def work(number):
        folder = f"{tree.temporary()}-cover-{number}"
        while True:
            try:
                test = waiting.get_nowait()
            except queue.Empty:
                break
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)
            ran = run(test, number, {"LD_PRELOAD": hook, "PAWL_COVER": folder})
            with lock:
                for name in entered(folder, symbols):
                    covered.setdefault(name, []).append(test.name)
                done[0] += 1
                say(f"[{done[0]}/{len(tests)}] {ran.verdict}: {test.name}, {ran.seconds:.0f} s")
        shutil.rmtree(folder, ignore_errors=True)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with open(os.path.join(root, FILE), "w", encoding="utf-8") as file:
        json.dump({name: sorted(names) for name, names in sorted(covered.items())}, file, indent=0)
    return covered
