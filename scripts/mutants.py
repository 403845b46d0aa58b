# mutants.py - the list of planted defects, tests/mutants/AREA.txt: reading it, and
# fitting it to the source. For scripts/mutate.py. The format is described in
# docs/TESTING.md:
#
#   folder: src/engine
#   tests: test_engine|test_fault
#
#   === a saga's version is not raised
#   file: src/engine/changes.c
#   tests: test_engine_saga
#   --- old
#       version + 1
#   --- new
#       version
#
# SPDX-License-Identifier: Apache-2.0
import difflib
import glob
import hashlib
import os
import re

FOLDER = "tests/mutants"
FIELDS = ("file", "tests", "equivalent")


BLANKS = r"(?:\s|\\\n)"  # a macro's lines end with a backslash


class ListError(Exception):
    """The list is wrong; the text names the entry."""


class Hunk:
    def __init__(self, file):
        self.file = file
        self.old = []
        self.new = None

    def places(self, text):
        """[(begin, end)] of the old text: as it stands, or else broken into lines and
        indented in any other way."""
        exact = [(found.start(), found.end()) for found in re.finditer(re.escape(self.old), text)]
        if exact:
            return exact
        words = re.findall(r"\w+|[^\w\s]", self.old.replace("\\\n", "\n"))
        pattern = re.escape(words[0])
        for before, word in zip(words, words[1:]):
            apart = before[-1].isalnum() and word[0].isalnum()
            pattern += (BLANKS + "+" if apart else BLANKS + "*") + re.escape(word)
        return [(found.start(), found.end()) for found in re.finditer(pattern, text)]


class Mutant:
    def __init__(self, area, place, name):
        self.area = area
        self.place = place  # file:line of the list
        self.name = name
        self.hunks = []
        self.fields = {}

    def fail(self, text):
        raise ListError(f"{self.place}: '{self.name}': {text}")

    @property
    def tests(self):
        return self.fields.get("tests")

    @property
    def equivalent(self):
        return self.fields.get("equivalent")

    @property
    def files(self):
        return sorted({hunk.file for hunk in self.hunks})

    def digest(self):
        """Changes with what is planted, not with the tests that are named."""
        parts = [self.area.name, self.name]
        for hunk in self.hunks:
            parts += [hunk.file, hunk.old, hunk.new]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    def planted(self, root):
        """{file: its text with the defect}"""
        texts = {}
        for hunk in self.hunks:
            if hunk.file not in texts:
                try:
                    with open(os.path.join(root, hunk.file), encoding="utf-8") as file:
                        texts[hunk.file] = file.read()
                except OSError:
                    self.fail(f"there is no {hunk.file}")
            places = hunk.places(texts[hunk.file])
            if len(places) != 1:
                first = hunk.old.split("\n")[0].strip()
                self.fail(
                    f"the old text that begins '{first}' stands {len(places)} times in {hunk.file}, "
                    "expected once"
                )
            begin, end = places[0]
            texts[hunk.file] = texts[hunk.file][:begin] + hunk.new + texts[hunk.file][end:]
        return texts

    def patch(self, root):
        lines = []
        for path, text in self.planted(root).items():
            with open(os.path.join(root, path), encoding="utf-8") as file:
                before = file.read()
            lines += difflib.unified_diff(
                before.splitlines(True), text.splitlines(True), "a/" + path, "b/" + path
            )
        return "".join(lines)


class Area:
    def __init__(self, path):
        self.path = path
        self.name = os.path.splitext(os.path.basename(path))[0]
        self.folders = []
        self.servers = ["postgres", "pgbouncer"]
        self.tests = ""
        self.mutants = []


class Reader:
    """One file of the list, line by line."""

    def __init__(self, root, path):
        self.area = Area(path)
        self.mutant = None
        self.text = None  # the hunk's list that lines go to
        with open(os.path.join(root, path), encoding="utf-8") as file:
            for number, line in enumerate(file.read().split("\n"), 1):
                self.take(f"{path}:{number}", line)
        self.close()

    def take(self, place, line):
        if line.startswith("=== "):
            self.close()
            self.mutant = Mutant(self.area, place, line[4:].strip())
        elif line in ("--- old", "--- new") and self.mutant is not None:
            self.begin_text(line)
        elif self.text is not None:
            self.text.append(line)
        elif line.strip() and not line.startswith("#"):
            self.take_field(place, line)

    def begin_text(self, line):
        hunks = self.mutant.hunks
        if line == "--- old":
            if "file" not in self.mutant.fields:
                self.mutant.fail("no line 'file:' before '--- old'")
            hunks.append(Hunk(self.mutant.fields["file"]))
            self.text = hunks[-1].old
        else:
            if not hunks or hunks[-1].new is not None:
                self.mutant.fail("'--- new' without '--- old' before it")
            hunks[-1].new = self.text = []

    def take_field(self, place, line):
        found = re.match(r"(\w+): (.+)$", line)
        key = found.group(1) if found else None
        if self.mutant is None and key == "folder":
            self.area.folders.append(found.group(2).strip())
        elif self.mutant is None and key == "servers":
            self.area.servers = found.group(2).split()
        elif self.mutant is None and key == "tests":
            self.area.tests = found.group(2).strip()
        elif self.mutant is not None and key in FIELDS:
            self.mutant.fields[key] = found.group(2).strip()
        else:
            raise ListError(f"{place}: '{line}' is no field of the list")

    def close(self):
        mutant, self.mutant, self.text = self.mutant, None, None
        if mutant is None:
            return
        if not mutant.hunks or mutant.hunks[-1].new is None:
            mutant.fail("no '--- old' with its '--- new'")
        for hunk in mutant.hunks:
            hunk.old, hunk.new = ("\n".join(lines).strip("\n") for lines in (hunk.old, hunk.new))
            if not hunk.old:
                mutant.fail("the old text is empty")
            if hunk.old == hunk.new:
                mutant.fail("the new text is the old one")
        self.area.mutants.append(mutant)


def check_regex(mutant, text):
    try:
        re.compile(text)
    except re.error as error:
        mutant.fail(f"'tests: {text}' is no regular expression: {error}")


def check_area(area):
    if not area.folders or not area.tests:
        raise ListError(f"{area.path}: begins with 'folder:' and 'tests:'")
    names = set()
    for mutant in area.mutants:
        check_regex(mutant, mutant.tests or area.tests)
        if mutant.name in names:
            mutant.fail("the name is there twice")
        names.add(mutant.name)
        for path in mutant.files:
            if not any(path.startswith(folder + "/") for folder in area.folders):
                mutant.fail(f"{path} lies outside {' '.join(area.folders)}")


def read_areas(root):
    paths = sorted(glob.glob(os.path.join(root, FOLDER, "*.txt")))
    areas = [Reader(root, os.path.relpath(path, root)).area for path in paths]
    for area in areas:
        check_area(area)
    return areas


def errors_of(root, mutants):
    """What of the list does not fit the source, one line an entry."""
    found = []
    for mutant in mutants:
        try:
            mutant.planted(root)
        except ListError as error:
            found.append(str(error))
    return found
