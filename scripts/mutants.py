# mutants.py - the list of planted defects, tests/mutants/AREA.txt: reading it, and
# finding the place of each in the source. For scripts/mutate.py. The format is described
# in docs/TESTING.md:
#
#   folder: src/engine
#   tests: test_engine|test_fault
#
#   === a saga's version is not raised
#   tests: test_engine_saga
#   in raise_version: version + 1 => version
#
# SPDX-License-Identifier: Apache-2.0
import collections
import difflib
import functools
import glob
import hashlib
import os
import re

FOLDER = "tests/mutants"
FIELDS = ("tests", "equivalent")
CHANGE = re.compile(r"in (?P<file>[\w/.-]+\.[ch])?:?(?P<function>\w+)?: (?P<old>.+?) =>(?: (?P<new>.+))?$")

LITERAL = r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
COMMENT = r"/\*.*?\*/|//[^\n]*"
WORD = re.compile(r"\w+|->|\+\+|--|<<=?|>>=?|[-+*/%&|^<>=!]=|&&|\|\||[^\w\s]")
LEXEME = re.compile(rf"(?P<blank>{COMMENT}|\\\n)|{LITERAL}|{WORD.pattern}", re.S)  # a macro's lines end with a backslash
Function = collections.namedtuple("Function", "name head begin end")  # begin: of its body
Place = collections.namedtuple("Place", "path begin end new")  # the text from begin to end is replaced


class ListError(Exception):
    """The list is wrong; the text names the entry."""


def masked(text):
    """The text with a name for each literal and blanks for comments and directives, so that offsets stay."""
    pattern = rf"{COMMENT}|{LITERAL}|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*"
    filler = lambda found: "_" if found.group()[0] in "\"'" else " "
    return re.sub(pattern, lambda found: re.sub(r"[^\n]", filler(found), found.group()), text, flags=re.S | re.M)


def functions_of(code):
    """Those of a masked text; the layout is clang-format's."""
    found = []
    for body in re.finditer(r"^\{\n.*?^\}", code, re.S | re.M):
        head = max(code.rfind(end, 0, body.start()) + len(end) for end in ("\n\n", ";\n", "}\n"))
        name = re.search(r"(\w+)\(", code[head:body.start()])
        if name:
            found.append(Function(name.group(1), head, body.start(), body.end()))
    return found


def words_of(text):
    """[(word, begin, end)]: literals are taken apart, comments left out."""
    found = []
    for lexeme in LEXEME.finditer(text):
        if not lexeme.group("blank"):
            at = lexeme.start()
            found += [(word.group(), at + word.start(), at + word.end()) for word in WORD.finditer(lexeme.group())]
    return found


class Sources:
    """Files of a tree as they are without a defect, each read once."""

    def __init__(self, root):
        self.root = root

    @functools.cache
    def text(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            return file.read()

    @functools.cache
    def functions(self, path):
        return functions_of(masked(self.text(path)))

    @functools.cache
    def words(self, path, begin, end):
        return [(word, begin + a, begin + b) for word, a, b in words_of(self.text(path)[begin:end])]

    @functools.cache
    def files(self, folders):
        """Those of the folders and of the folders in them."""
        found = (glob.glob(f"{folder}/**/*.[ch]", root_dir=self.root, recursive=True) for folder in folders)
        return sorted({path for paths in found for path in paths})

    @functools.cache
    def scopes(self, folders, file, function):
        """[(path, begin, end)]: the files of this name, or the functions of this name in these, or in any."""
        files = [path for path in self.files(folders) if not file or f"/{path}".endswith(f"/{file}")]
        if not function:
            return [(path, 0, len(self.text(path))) for path in files]
        return [
            (path, found.head, found.end) for path in files if f"{function}(" in self.text(path)
            for found in self.functions(path) if found.name == function
        ]


class Change:
    """A line `in PLACE: OLD => NEW` of the list."""

    def __init__(self, file, function, old, new):
        self.file, self.function = file, function
        self.old, self.new = old, new

    @property
    def key(self):
        return f"{self.file or ''}:{self.function or ''}", self.old, self.new

    def scopes(self, sources, folders):
        return sources.scopes(tuple(folders), self.file, self.function)

    def places(self, sources, folders):
        """Where the words of the old text stand one behind the other, in whatever lines."""
        wanted, found = [word for word, _, _ in words_of(self.old)], []
        for path, begin, end in self.scopes(sources, folders):
            words = sources.words(path, begin, end)
            for at in range(len(words) - len(wanted) + 1):
                if words[at][0] == wanted[0] and [word for word, _, _ in words[at:at + len(wanted)]] == wanted:
                    found.append(Place(path, words[at][1], words[at + len(wanted) - 1][2], self.new))
        return found


class Mutant:
    def __init__(self, area, place, name):
        self.area = area
        self.place = place  # file:line of the list
        self.name = name
        self.changes = []
        self.fields = {}

    def fail(self, text):
        raise ListError(f"{self.place}: '{self.name}': {text}")

    @property
    def tests(self):
        return self.fields.get("tests")

    @property
    def equivalent(self):
        return self.fields.get("equivalent")

    @functools.cached_property
    def files(self):
        found = [change.places(self.area.sources, self.area.folders) for change in self.changes]
        return sorted({place.path for places in found for place in places})

    def digest(self):
        """Changes with what is planted, not with the tests that are named."""
        parts = [self.area.name, self.name] + [part for change in self.changes for part in change.key]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    def places(self, sources):
        found = []
        for change in self.changes:
            where, scopes = change.key[0].strip(":"), change.scopes(sources, self.area.folders)
            if not scopes:
                self.fail(f"there is no {where} in {' '.join(self.area.folders)}")
            places = change.places(sources, self.area.folders)
            if len(places) != 1:
                files = " and ".join(sorted({path for path, *_ in places or scopes}))
                self.fail(f"'{change.old}' stands {len(places)} times in {where} ({files}), expected once")
            found += places
        return sorted(found)

    def planted(self, sources):
        """{file: its text with the defect}"""
        texts = {}
        for place in reversed(self.places(sources)):
            text = texts.get(place.path, sources.text(place.path))
            texts[place.path] = text[:place.begin] + place.new + text[place.end:]
        return texts

    def patch(self, sources):
        lines = []
        for path, text in self.planted(sources).items():
            before = sources.text(path)
            lines += difflib.unified_diff(
                before.splitlines(True), text.splitlines(True), "a/" + path, "b/" + path
            )
        return "".join(lines)


class Area:
    def __init__(self, path, sources):
        self.path = path
        self.name = os.path.splitext(os.path.basename(path))[0]
        self.sources = sources
        self.folders = []
        self.servers = ["postgres", "pgbouncer"]
        self.tests = ""
        self.mutants = []


class Reader:
    """One file of the list, line by line; an indented line goes on with the one before it."""

    def __init__(self, sources, path):
        self.area = Area(path, sources)
        self.mutant = None
        with open(os.path.join(sources.root, path), encoding="utf-8") as file:
            begins = {1: ""}
            for number, line in enumerate(file.read().split("\n"), 1):
                if line.startswith(" "):
                    begins[max(begins)] += f" {line.strip()}"
                else:
                    begins[number] = line
        for number, line in begins.items():
            self.take(f"{path}:{number}", line)
        self.close()

    def take(self, place, line):
        if line.startswith("=== "):
            self.close()
            self.mutant = Mutant(self.area, place, line[4:].strip())
        elif line.startswith("in ") and self.mutant is not None:
            self.take_change(line)
        elif line.strip() and not line.startswith("#"):
            self.take_field(place, line)

    def take_change(self, line):
        found = CHANGE.match(line)
        if not found or not (found["file"] or found["function"]):
            self.mutant.fail(f"'{line}' is no line 'in PLACE: OLD => NEW'")
        old, new = found["old"], found["new"] or ""
        if " => " in new:
            self.mutant.fail(f"'{line}' has ' => ' twice")
        if old == new:
            self.mutant.fail("the new text is the old one")
        self.mutant.changes.append(Change(found["file"], found["function"], old, new))

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
        mutant, self.mutant = self.mutant, None
        if mutant is None:
            return
        if not mutant.changes:
            mutant.fail("no line 'in PLACE: OLD => NEW'")
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


def read_areas(sources):
    paths = sorted(glob.glob(f"{FOLDER}/*.txt", root_dir=sources.root))
    areas = [Reader(sources, path).area for path in paths]
    for area in areas:
        check_area(area)
    return areas


def errors_of(sources, mutants):
    """What of the list does not fit the source, one line an entry."""
    found = []
    for mutant in mutants:
        try:
            mutant.places(sources)
        except ListError as error:
            found.append(str(error))
    return found
