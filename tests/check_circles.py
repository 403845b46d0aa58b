#!/usr/bin/env python3
"""check_circles.py [ROOT] - files of src/engine, src/runtime and src/cli that call each other
in a circle, found by the functions that they define and name. A circle is refused unless the
head of one of its files explains it: the pairs of EXPLAINED, with the words that do.

The folders of src/runtime are rooms in an order: a file names functions and headers of its own
room and of those before it. A file that names some of a later room is an arrow upward, counted
once for each of its files; more than ARROWS_MAX are refused. runtime.h stands before all.

The check is first tried on made-up files.

SPDX-License-Identifier: Apache-2.0
"""
import collections
import pathlib
import re
import sys

FOLDERS = ("src/engine", "src/runtime", "src/cli")
EXPLAINED = {
    ("dead.c", "dead_settle.c"): ("dead_settle.c", "each of the two files calls the other"),
    ("help.c", "main.c"): ("help.c", "it reads main.c's table of verbs"),
    ("outbox.c", "outbox_reset.c"): ("outbox_reset.c", "each of the two files calls the other"),
}
ROOMS = """common ordered schedule outbox inbound worker aggregator projection retention operate endpoint
    test_kit""".split()
ARROWS_MAX = 9
DEFINITION = re.compile(r"^(?!static)[A-Za-z_][\w \*]*?\b(pawl_\w+)\([^;{]*\)\s*\n\{", re.M)
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def calls(files):
    """{file: {file that it calls}} of {name: text}."""
    texts = {name: COMMENT.sub("", text) for name, text in files.items()}
    owner = {f: name for name, text in texts.items() for f in DEFINITION.findall(text)}
    graph = collections.defaultdict(set)
    for name, text in texts.items():
        for word in set(re.findall(r"\bpawl_\w+", text)):
            if owner.get(word, name) != name:
                graph[name].add(owner[word])
    return graph


def reached(graph, start):
    seen, left = set(), list(graph[start])
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            left.extend(graph[name])
    return seen


def circles(files):
    """Each set of files that reach one another, as a sorted tuple."""
    graph = calls(files)
    to = {name: reached(graph, name) for name in files}
    return sorted({tuple(sorted({name} | {other for other in to[name] if name in to[other]}))
                   for name in files if name in to[name]})


def refused(files):
    for circle in circles(files):
        names = tuple(name.rsplit("/", 1)[-1] for name in circle)
        head, words = EXPLAINED.get(names, (None, None))
        text = files[circle[names.index(head)]] if head else ""
        if head is None or words not in re.sub(r"\s+(\* )?", " ", text.split("*/", 1)[0]):
            yield circle


def rank(name):
    """Of a file below src/runtime; a folder without a place in the order is an error."""
    return ROOMS.index(name.split("/")[0]) if "/" in name else 0


def arrows(files):
    """Each pair of files of src/runtime of which the first names something of the other, in a later room."""
    graph = calls(files)
    for name, text in files.items():
        graph[name] |= set(re.findall(r'^#include "runtime/([^"]+)"', text, re.M)) & set(files)
    return sorted((name, to) for name in files for to in graph[name] if rank(to) > rank(name))


def self_test():
    a = "int pawl__a(void)\n{\n    return %s;\n}\n"
    b = "int pawl__b(int x,\n           int y)\n{\n    return pawl__c();\n}\n"
    c = "static int own(void)\n{\n    return pawl__a();\n}\nint pawl__c(void)\n{\n    return own();\n}\n"
    assert not circles({"a.c": a % "0", "b.c": b, "c.c": c})
    assert not circles({"a.c": a % "1 /* pawl__b() */", "b.c": b, "c.c": c})
    assert circles({"a.c": a % "pawl__b(1, 2)", "b.c": b, "c.c": c}) == [("a.c", "b.c", "c.c")]
    head = "/* help.c - x: it reads\n * main.c's table of verbs. */\n"
    main = a % "pawl__c()"
    assert not list(refused({"help.c": head + c, "main.c": main}))
    assert list(refused({"help.c": c, "main.c": main})) == [("help.c", "main.c")]
    rooms = {"outbox/b.c": b, "worker/c.c": c, "runtime.h": '#include "runtime/common/x.h"\n', "common/x.h": ""}
    assert arrows(rooms) == [("outbox/b.c", "worker/c.c")]
    rooms = {"worker/b.c": b, "outbox/c.c": c, "outbox/b.h": '#include "runtime/worker/c.h"\n', "worker/c.h": ""}
    assert arrows(rooms) == [("outbox/b.h", "worker/c.h")]


def main():
    self_test()
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    bad = False
    for folder in FOLDERS:
        paths = sorted((root / folder).rglob("*.c"))
        assert paths, folder
        files = {str(path.relative_to(root)): path.read_text() for path in paths}
        for circle in refused(files):
            print("these files call each other in a circle:", ", ".join(circle))
            bad = True
    runtime = root / "src/runtime"
    upward = arrows({str(p.relative_to(runtime)): p.read_text() for p in sorted(runtime.rglob("*.[ch]"))})
    if len(upward) > ARROWS_MAX:
        print("%d arrows upward in src/runtime, %d are allowed:" % (len(upward), ARROWS_MAX))
        print("\n".join("    %s names something of %s" % arrow for arrow in upward))
        bad = True
    sys.exit(bad)


main()
