#!/usr/bin/env python3
# guarantees.py [--write] [ROOT] - docs/GUARANTEES.md against the tests.
#
# The document is the list of items. Of each it holds what is promised, the
# decision where the sources disagree, and the tests that prove it:
#
#   ### A1
#
#   What is promised.
#
#   Decision: what holds.
#   Not on a store alone: why no case of the suite is about it.
#   Waiting for: store MongoDB; roadmap: RabbitMQ (which part of it)
#
#   - `tests/unit/base/test_x.c`: name_of_a_test
#
# A test names what it proves: a case of the suite begins "T4 T5 only due timeouts are claimed",
# a test function t4_t5_due_rows_only. Others are listed by hand.
#
# The check fails for an item without a test or a waiting entry, for a test that
# names an unknown item, for a listed test that does not exist, for an item that
# speaks of every store and whose tests run on no server, and when
# src/conformance/suite/items.c says anything else than the document. --write lists
# the tests that name an item anew, keeps the others, and writes items.c.
#
# SPDX-License-Identifier: Apache-2.0
import glob
import os
import re
import sys

DOCUMENT = "docs/GUARANTEES.md"
ITEMS = "src/conformance/suite/items.c"
SERIES = "ATSODEM"
ROADMAP = (
    "The saga persister complete",
    "Failure is visible, and can be repaired",
    "RabbitMQ",
    "MongoDB, with the same guarantees",
    "a run on a real SQL Server and Oracle",
)
STORES = ("MongoDB",)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


# ---- The tests --------------------------------------------------------------


def case_names(text):
    return re.findall(r'^\s*\{\s*"([^"]+)",\s*\w+\}', text, re.M)


def function_names(text):
    """Definitions: a test's begins with the macro that registers it."""
    return re.findall(r"^(?:static void |(?!PAWL_)[A-Z][A-Z_]+\()(\w+)[(,)]", text, re.M)


def section_names(text):
    return re.findall(r'^echo "== (.*)"$', text, re.M)


# What runs on a server: the suite (test_contract_postgres), tests whose
# rows name servers, what is about one kind of server, and scripts that say so.
ON_SERVERS = re.compile(r"\b(?:ON_)?(?:ALL|SQL)_STORES(?:_ROWS)?\((\w+)[,)]|\bSTORE_ROW\((\w+),\s*\"postgres\"\)")
OF_SERVERS = re.compile(r"src/conformance/|.*postgres")


def server_tests(root):
    """{(file, name)} of the tests that run on a store with a server."""
    found = set()
    for path, names in all_tests(root).items():
        if OF_SERVERS.match(path):
            found |= {(path, name) for name in names}
        elif path.endswith(".c"):
            rows = ON_SERVERS.findall(read(root, path))
            found |= {(path, first or second) for first, second in rows}
    return found


def items_of(name):
    """The items that a test's name begins with."""
    found = re.match(rf"((?:[{SERIES}]\d+ )+)", name)
    if found:
        return found.group(1).split()
    found = re.match(rf"((?:[{SERIES.lower()}]\d+_)+)", name)
    return found.group(1).upper().split("_")[:-1] if found else []


def all_tests(root):
    """{file: [name ...]} of everything that can be named."""
    tests = {}
    for pattern, names in (
        ("src/conformance/store/*.c", case_names),
        ("src/conformance/operation/*.c", case_names),
        ("tests/*/test_*.c", function_names),
        ("tests/unit/*/test_*.c", function_names),
        ("tests/system/*.sh", section_names),
    ):
        for path in sorted(glob.glob(os.path.join(root, pattern))):
            tests[os.path.relpath(path, root)] = names(read(root, os.path.relpath(path, root)))
    return tests


# ---- The document -----------------------------------------------------------


class Item:
    def __init__(self, identity):
        self.identity = identity
        self.text = []  # lines before the tests
        self.tests = []  # (file, name)

    def field(self, label):
        for line in self.text:
            if line.startswith(label + ": "):
                return line[len(label) + 2 :]
        return None


def parse(document):
    """(the lines before each series and item, items)"""
    items, parts, item = [], [], None
    for line in document.splitlines():
        heading = re.match(r"### (\w+)$", line)
        test = re.match(r"- `([^`]+)`: (.+)$", line)
        if heading:
            item = Item(heading.group(1))
            items.append(item)
            parts.append(item)
        elif line.startswith("#"):
            item = None
            parts.append(line)
        elif item is None:
            parts.append(line)
        elif test:
            item.tests.append((test.group(1), test.group(2)))
        else:
            item.text.append(line)
    return parts, items


def render(parts):
    lines = []
    for part in parts:
        if isinstance(part, str):
            lines.append(part)
            continue
        text = "\n".join(part.text).strip("\n")
        lines += [f"### {part.identity}", "", text, ""]
        if part.tests:
            lines += [f"- `{file}`: {name}" for file, name in part.tests] + [""]
    return "\n".join(lines).rstrip("\n") + "\n"


# ---- The check --------------------------------------------------------------


def check_list(items):
    found = [item.identity for item in items]
    expected = []
    for letter in SERIES:
        count = sum(1 for identity in found if identity.startswith(letter))
        expected += [f"{letter}{number}" for number in range(1, count + 1)]
    if found != expected:
        at = next((i for i, pair in enumerate(zip(found, expected)) if pair[0] != pair[1]), -1)
        yield f"{DOCUMENT}: item {found[at]} stands where {expected[at]} is due"


def check_waiting(item):
    for target in re.split(r"; ", re.sub(r" \([^)]*\)", "", item.field("Waiting for"))):
        if not (
            target in [f"roadmap: {title}" for title in ROADMAP]
            or target in [f"store {name}" for name in STORES]
        ):
            yield f"{DOCUMENT}: {item.identity} waits for '{target}', which is no roadmap part or store"


def check_items(items, tests):
    for item in items:
        if not item.tests and not item.field("Waiting for"):
            yield f"{DOCUMENT}: {item.identity} has no test and waits for nothing"
        if item.field("Waiting for"):
            yield from check_waiting(item)
        if not item.field("Not on a store alone") and item.tests:
            if not any(file.startswith("src/conformance/") for file, name in item.tests):
                yield f"{DOCUMENT}: {item.identity} has no case of the suite and no reason for that"
        for file, name in item.tests:
            if name not in tests.get(file, []):
                yield f"{DOCUMENT}: {item.identity}: there is no test '{name}' in {file}"


# An item without a case of the suite gives a reason; one that says "store" claims something
# of every kind of them, and memory and SQLite alone are no proof.
def check_servers(items, servers):
    for item in items:
        reason = item.field("Not on a store alone") or ""
        if not item.tests or not re.search(r"\bevery store\b", reason):
            continue
        if not any(test in servers for test in item.tests):
            yield f"{DOCUMENT}: {item.identity} speaks of every store, and none of its tests runs on a server"


def check_names(items, tests):
    known = {item.identity for item in items}
    for file, names in tests.items():
        for name in names:
            for identity in items_of(name):
                if identity not in known:
                    yield f"{file}: '{name}' names {identity}, which is no item of {DOCUMENT}"


def rows_of(items):
    """What items.c has to say. What pawl itself waits for is not there: it says nothing of the store that is tested."""
    return [
        (item.identity, "SUITE_NOT_APPLICABLE", item.field("Not on a store alone"))
        for item in items
        if item.field("Not on a store alone")
    ]


ROW = re.compile(r'\{\'(\w)\', (\d+), (SUITE_\w+),\s*"((?:[^"\\]|\\.)*)"\},')


def check_table(items, table):
    rows = [(f"{m[0]}{m[1]}", m[2], m[3].replace('\\"', '"')) for m in ROW.findall(table)]
    wanted = rows_of(items)
    for row in rows:
        if row not in wanted:
            yield f"{ITEMS}: {row[0]} is {row[1]}, '{row[2]}'; {DOCUMENT} says something else"
    for row in wanted:
        if row not in rows:
            yield f"{ITEMS}: no row {row[0]}, {row[1]}, '{row[2]}'"


def check(document, tests, table, servers=()):
    items = parse(document)[1]
    return [
        complaint
        for part in (
            check_list(items),
            check_items(items, tests),
            check_servers(items, servers),
            check_names(items, tests),
            check_table(items, table),
        )
        for complaint in part
    ]


# ---- Writing ----------------------------------------------------------------


def list_tests(items, tests):
    for item in items:
        kept = [test for test in item.tests if item.identity not in items_of(test[1])]
        named = [
            (file, name)
            for file, names in tests.items()
            for name in names
            if item.identity in items_of(name)
        ]
        item.tests = named + [test for test in kept if test not in named]


def write_table(items, table):
    lines = []
    for identity, result, reason in rows_of(items):
        quoted = reason.replace('"', '\\"')
        head = f"    {{'{identity[0]}', {identity[1:]}, {result},"
        line = f'{head} "{quoted}"}},'
        lines.append(line if len(line) <= 100 else f'{head}\n     "{quoted}"}},')
    begin = table.index("rows[] = {\n") + len("rows[] = {\n")
    end = table.index("};", begin)
    return table[:begin] + "\n".join(lines) + "\n" + table[end:]


def write(root):
    parts, items = parse(read(root, DOCUMENT))
    list_tests(items, all_tests(root))
    table = write_table(items, read(root, ITEMS))
    for path, text in ((DOCUMENT, render(parts)), (ITEMS, table)):
        with open(os.path.join(root, path), "w", encoding="utf-8") as file:
            file.write(text)


# ---- The check can fail -----------------------------------------------------


def self_test():
    tests = {"tests/unit/base/test_x.c": ["a1_holds", "other"], "src/conformance/store/x.c": ["A1 x"]}
    good = "# List\n\n### A1\n\nIt holds.\n\n- `src/conformance/store/x.c`: A1 x\n"
    good += "- `tests/unit/base/test_x.c`: a1_holds\n"
    waits = good + "\n### A2\n\nIt will.\n\nNot on a store alone: locks\n\nWaiting for: store MongoDB (locks)\n"
    row = "{'A', 2, SUITE_NOT_APPLICABLE, \"locks\"},"
    trials = (
        (good, tests, "", ""),
        (waits, tests, row, ""),
        (waits, tests, "", "no row A2"),
        (waits, tests, row.replace("locks", "keys"), "says something else"),
        (waits.replace("store MongoDB", "better days"), tests, row, "'better days', which is no roadmap"),
        (good.replace("a1_holds", "a1_held"), tests, "", "no test 'a1_held'"),
        (good.replace("- `", "`"), tests, "", "A1 has no test"),
        (good.replace("- `src", "`src"), tests, "", "A1 has no case of the suite"),
        (good.replace("A1", "A2"), tests, "", "A2 stands where A1 is due"),
        (good.replace("It holds.", "Waiting for: store MongoDB").replace("- `src", "`src"), tests, "", "A1 has no case of the suite"),
        (good, {**tests, "tests/unit/base/test_y.c": ["a1_e99_holds"]}, "", "names E99"),
        (good, {**tests, "src/conformance/store/y.c": ["A1 S99 x"]}, "", "names S99"),
    )
    claims = good.replace("It holds.", "It holds.\n\nNot on a store alone: the same on every store")
    claims = claims.replace("- `src/conformance/store/x.c`: A1 x\n", "")
    told = "{'A', 1, SUITE_NOT_APPLICABLE, \"the same on every store\"},"
    for servers, is_fine in (((), False), ((("tests/unit/base/test_x.c", "a1_holds"),), True)):
        found = check(claims, tests, told, servers)
        if is_fine != (found == []) or not (is_fine or "runs on a server" in found[0]):
            sys.exit(f"self-test: an item that speaks of every store: {found}")
    for document, some_tests, table, complaint in trials:
        found = check(document, some_tests, table)
        if complaint == "" and found or not any(complaint in line for line in found + [""]):
            sys.exit(f"self-test: '{complaint}' was expected, found {found}")


def main(words):
    is_write = "--write" in words
    rest = [word for word in words if word != "--write"]
    root = rest[0] if rest else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    self_test()
    if is_write:
        write(root)
    tests = all_tests(root)
    complaints = check(read(root, DOCUMENT), tests, read(root, ITEMS), server_tests(root))
    for complaint in complaints:
        print(complaint)
    items = parse(read(root, DOCUMENT))[1]
    proven = sum(1 for item in items if item.tests)
    waiting = sum(1 for item in items if item.field("Waiting for"))
    print(f"{len(items)} items: {proven} have tests, {waiting} wait for something")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
