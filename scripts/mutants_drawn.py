# mutants_drawn.py - defects that operators make from the source: a comparison that is
# off by one, a condition that always holds, a statement that is left out. For
# scripts/mutate.py, which plants a draw of them beside the list of tests/mutants.
#
# Each draw takes a function, then an operator that finds something in it, then one of
# the places: a long function counts no more than a short one, and a rare operator no
# less than a frequent one. The same seed on the same source draws the same defects.
#
# SPDX-License-Identifier: Apache-2.0
import collections
import glob
import os
import random
import re

import mutants

LEFT_OUT = ("src/conformance/", "src/observe/")  # a suite of tests; a module without an area
Site = collections.namedtuple("Site", "begin end new")  # of the text that is replaced
OPERAND = r"!?\w[\w.\[\]]*(?:->[\w.\[\]]+)*(?:\([^()]*\))?"
LEAKS = re.compile(r"\w*(free|destroy)\(")  # the sanitizer's to see, which these tests run without
RELATIONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}


def masked(text):
    """The text with blanks for comments, literals and directives, so that offsets stay."""
    pattern = r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*"
    blank = lambda found: re.sub(r"[^\n]", " ", found.group())
    return re.sub(pattern, blank, text, flags=re.S | re.M)


def functions_of(text):
    """[(name, begin, end)] of the bodies; the layout is clang-format's."""
    found = []
    for body in re.finditer(r"^\{\n.*?^\}", text, re.S | re.M):
        head = text[max(0, text.rfind("\n\n", 0, body.start())):body.start()]
        names = re.findall(r"(\w+)\(", head)
        if names:
            found.append((names[0], body.start(), body.end()))
    return found


def replaced(pattern, make):
    """An operator: each match of the pattern, with the new text for its group 1."""

    def sites(text):
        for found in re.finditer(pattern, text, re.M):
            new = make(found.group(1))
            if new is not None and new != found.group(1):
                yield Site(found.start(1), found.end(1), new)

    return sites


def conditions(value):
    """An operator: the whole condition of an if or a while has this value."""

    def sites(text):
        for found in re.finditer(r"\b(?:if|while) \(", text):
            depth, end = 1, found.end()
            while depth and end < len(text):
                depth += {"(": 1, ")": -1}.get(text[end], 0)
                end += 1
            if depth == 0 and "=" not in re.sub(r"[=!<>]=", "", text[found.end():end]):
                yield Site(found.end(), end - 1, value)

    return sites


OPERATORS = {
    "relation": replaced(r" (<=|>=|==|!=|<|>) ", RELATIONS.get),
    "and, or": replaced(r" (&&|\|\|)(?=\s)", {"&&": "||", "||": "&&"}.get),
    "no term of and": replaced(rf"(?:\(|&&\s+|\|\|\s+|return |[^=!<>]= )({OPERAND}) &&\s", lambda old: "true"),
    "no last term of and": replaced(rf"&&\s+({OPERAND})[);]", lambda old: "true"),
    "no term of or": replaced(rf"(?:\(|&&\s+|\|\|\s+|return |[^=!<>]= )({OPERAND}) \|\|\s", lambda old: "false"),
    "not": replaced(r"[( ](!)[\w(]", lambda old: ""),
    "always": conditions("true"),
    "never": conditions("false"),
    "no call": replaced(r"(?<=[;{}:)\n])\n +(\w+\([^;{}]*\);)$", lambda old: None if LEAKS.match(old) else ";"),
    "no assignment": replaced(
        r"(?<=[;{}:)\n])\n +(\*?\w[\w.\[\]]*(?:->[\w.\[\]]+)* +[-+|&]?=(?: [^;{}]*);)$", lambda old: ";"
    ),
    "no increment": replaced(r"^ +([\w.>\[\]-]+(?:\+\+|--);)$", lambda old: ";"),
    "number": replaced(r"(?<![\w.])(0|[1-9]\d*)(?![\w.\]])", lambda old: str(int(old, 0) + 1)),
    "plus, minus": replaced(r"[\w)\]] ([-+]) [\w(]", {"+": "-", "-": "+"}.get),
    "failure": replaced(r"return (PAWL_E\w+|code);", lambda old: "PAWL_OK"),
    "truth": replaced(r"\b(true|false)\b", {"true": "false", "false": "true"}.get),
    "no member": replaced(r"(?<=[,{\s])(\.\w+ += [^,{}\n]+,)", lambda old: ""),
}


def tests_of(path, areas):
    """The area of the list with most of its defects in this file, else in its folder: its tests and servers."""
    folder = os.path.dirname(path)
    mine = [area for area in areas if any(path.startswith(f + "/") for f in area.folders)]

    def defects_in(area):
        files = [file for mutant in area.mutants for file in mutant.files]
        return files.count(path), sum(os.path.dirname(file) == folder for file in files)

    return max(mine, default=None, key=defects_in), defects_in


def area_of(path, areas):
    """An area for each folder, under its name; None: the list has none for it."""
    listed, defects_in = tests_of(path, areas)
    if listed is None:
        return None
    made = mutants.Area(path)
    made.name = re.sub(r"^src/(store/|transport/)?", "", os.path.dirname(path)).replace("/", "_")
    made.tests, made.servers = listed.tests, listed.servers
    # The areas of the command are about one verb each; a file of another verb has none.
    if made.name == "cli" and defects_in(listed)[0] == 0:
        made.tests = "^(command_|test_cli)"
    return made


def defect(area, path, text, function, operator, site):
    """Whole lines, as many as make the old text the only one of its kind."""
    begin, end = text.rfind("\n", 0, site.begin) + 1, text.find("\n", site.end)
    while text.count(text[begin:end]) > 1:
        begin = text.rfind("\n", 0, begin - 1) + 1
    line = text.count("\n", 0, site.begin) + 1
    old = " ".join(text[site.begin:site.end].split())
    made = mutants.Mutant(area, f"{path}:{line}", f"{function}:{line}: {operator}: {old[:40]}")
    hunk = mutants.Hunk(path)
    hunk.old = text[begin:end]
    hunk.new = text[begin:site.begin] + site.new + text[site.end:end]
    made.hunks.append(hunk)
    made.fields = {"file": path}
    return made


def places(root, areas):
    """[(area, path, text, code, function, begin, end)] of every function."""
    found = []
    for path in sorted(glob.glob("src/**/*.c", root_dir=root, recursive=True)):
        area = area_of(path, areas)
        if area is None or path.startswith(LEFT_OUT):
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        code = masked(text)
        for name, begin, end in functions_of(code):
            found.append((area, path, text, code, name, begin, end))
    return found


def draw(root, areas, is_wanted, count, seed):
    """So many different defects; fewer when the source has no more of them."""
    source = [place for place in places(root, areas) if is_wanted(place[0].name, place[1])]
    chance, drawn = random.Random(seed), {}
    for _ in range(count * 20):
        if len(drawn) == count or not source:
            break
        area, path, text, code, name, begin, end = chance.choice(source)
        found = {
            operator: sites for operator, make in OPERATORS.items()
            if (sites := list(make(code[begin:end])))
        }
        if not found:
            continue
        operator = chance.choice(sorted(found))
        site = chance.choice(found[operator])
        site = Site(site.begin + begin, site.end + begin, site.new)
        made = defect(area, path, text, name, operator, site)
        drawn.setdefault((path, site), made)
    return list(drawn.values())
