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
import os
import random
import re

import mutants

LEFT_OUT = ("src/conformance/", "src/observe/")  # a suite of tests; a module without an area
Site = collections.namedtuple("Site", "begin end new")  # of the text that is replaced, within a function
OPERAND = r"!?\w[\w.\[\]]*(?:->[\w.\[\]]+)*(?:\([^()]*\))?"
LEAKS = re.compile(r"\w*(free|destroy)\(")  # the sanitizer's to see, which these tests run without
RELATIONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}


class Drawn(mutants.Change):
    """At a place that is known."""

    def __init__(self, place, function, old):
        super().__init__(place.path, function, old, place.new)
        self.place = place

    def scopes(self, sources, folders):
        return [self.place[:3]]

    def places(self, sources, folders):
        path, begin, end, _ = self.place
        return [self.place] if sources.text(path)[begin:end] == self.old else []


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
    made = mutants.Area(path, listed.sources)
    made.name = re.sub(r"^src/(store/|transport/)?", "", os.path.dirname(path)).replace("/", "_")
    made.tests, made.servers = listed.tests, listed.servers
    # The areas of the command are about one verb each; a file of another verb has none.
    if path.startswith("src/cli/") and defects_in(listed)[0] == 0:
        made.tests = "^(command_|test_cli)"
    return made


def defect(area, path, text, function, operator, site):
    line = text.count("\n", 0, site.begin) + 1
    old = text[site.begin:site.end]
    made = mutants.Mutant(area, f"{path}:{line}", f"{function}:{line}: {operator}: {' '.join(old.split())[:40]}")
    made.changes.append(Drawn(mutants.Place(path, *site), function, old))
    return made


def places(sources, areas):
    """[(area, path, function)] of every function."""
    found = []
    for path in sources.files(("src",)):
        area = area_of(path, areas) if path.endswith(".c") and not path.startswith(LEFT_OUT) else None
        found += [(area, path, function) for function in sources.functions(path) if area]
    return found


def sites_of(code, function):
    """{operator: its sites in the body} of those that find one."""
    found = {}
    for operator, make in OPERATORS.items():
        sites = make(code[function.begin:function.end])
        found[operator] = [Site(begin + function.begin, end + function.begin, new) for begin, end, new in sites]
    return {operator: sites for operator, sites in found.items() if sites}


def draw(sources, areas, is_wanted, count, seed):
    """So many different defects; fewer when the source has no more of them."""
    source = [place for place in places(sources, areas) if is_wanted(place[0].name, place[1])]
    chance, drawn = random.Random(seed), {}
    for _ in range(count * 20):
        if len(drawn) == count or not source:
            break
        area, path, function = chance.choice(source)
        found = sites_of(mutants.masked(sources.text(path)), function)
        if not found:
            continue
        operator = chance.choice(sorted(found))
        site = chance.choice(found[operator])
        drawn.setdefault((path, site), defect(area, path, sources.text(path), function.name, operator, site))
    return list(drawn.values())
