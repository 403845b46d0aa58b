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
Site = collections.namedtuple("Site", "begin end new")  # of the text that is replaced
OPERAND = r"!?\w[\w.\[\]]*(?:->[\w.\[\]]+)*(?:\([^()]*\))?"
NO_LOSS = re.compile(r"\w*(free|destroy)\(|\(void\)\w+;")  # the sanitizer's to see, which these tests run without; nothing
RELATIONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
LOGIC, SUMS = ("&&", "||"), ("+", "-", "*", "/", "%", "&", "|")
BRACKETS = {"(": ")", "[": "]", "{": "}"}
STOPS = {*BRACKETS, "}", "=", "+=", "-=", "|=", "&=", ";", ",", "?", ":", "return", "else"}  # a value begins behind one
HEADS = ("if", "while", "for")
NO_CALL = (*HEADS, "switch", "return", "sizeof", "goto", "do", "case")


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


class Body:
    """The words of a function, and the values between them as (first word, last word)."""

    def __init__(self, code, text, constants):
        self.code, self.text, self.constants = code, text, constants
        self.words = mutants.words_of(code)
        self.names = [word for word, _, _ in self.words]
        self.partners, opened = {}, []
        for at, name in enumerate(self.names):
            if name in BRACKETS:
                opened.append(at)
            elif name in BRACKETS.values():
                self.partners[at] = opened.pop()
                self.partners[self.partners[at]] = at

    def site(self, value, new):
        return Site(self.words[value[0]][1], self.words[value[1]][2], new)

    def part(self, value):
        return self.text[self.words[value[0]][1]:self.words[value[1]][2]]

    def at(self, *names):
        return [at for at, name in enumerate(self.names) if name in names]

    def before(self, at, *ends):
        """The value in front of this word, back to one of the ends or to where a value begins."""
        first = at
        while self.names[first - 1] not in STOPS and self.names[first - 1] not in ends:
            first = self.partners.get(first - 1, first - 1)
        return first, at - 1

    def behind(self, at, *ends):
        last, asked = at, 0  # ?s whose : is still to come
        while self.names[last + 1] not in (*ends, ")", "]", "}", ";", ",") and (self.names[last + 1] != ":" or asked):
            asked += {"?": 1, ":": -1}.get(self.names[last + 1], 0)
            last = self.partners.get(last + 1, last + 1)
        return at + 1, last

    def terms(self):
        """{value: the && or || beside it}"""
        found = {}
        for at in self.at(*LOGIC):
            ends = LOGIC if self.names[at] == "&&" else ("||",)
            for value in self.before(at, *ends), self.behind(at, *ends, "?"):
                found[value] = self.names[at]
        return found

    def conditions(self):
        """Of if, while, for and ?:, and what is returned when it compares."""
        found = [(at + 2, self.partners[at + 1] - 1) for at in self.at("if", "while")]
        found += [self.behind(self.behind(at + 1)[1] + 1) for at in self.at("for")]
        found += [self.before(at) for at in self.at("?")]
        return found + [value for value in self.returned() if {*RELATIONS, *LOGIC, "!"}.intersection(self.names[slice(*value)])]

    def calls(self):
        """[(the name, its arguments)]"""
        for at in self.at("("):
            if re.match(r"\w", self.names[at - 1]) and self.names[at - 1] not in NO_CALL:
                arguments = []
                while (value := self.behind(arguments[-1][1] + 1 if arguments else at))[0] <= value[1]:
                    arguments.append(value)
                    if self.names[value[1] + 1] != ",":
                        break
                yield at - 1, arguments

    def arguments(self):
        return [argument for _, arguments in self.calls() for argument in arguments]

    def assigned(self):
        return [self.behind(at) for at in self.at("=")]

    def returned(self):
        return [self.behind(at) for at in self.at("return")]

    def operands(self):
        """Of relations, and what stands in square brackets."""
        found = [self.before(at, *RELATIONS, *LOGIC) for at in self.at(*RELATIONS)]
        found += [self.behind(at, *RELATIONS, *LOGIC, "?") for at in self.at(*RELATIONS)]
        return found + [self.behind(at) for at in self.at("[")]

    def values(self):
        return [*self.operands(), *self.assigned(), *self.returned(), *self.arguments()]

    def statements(self):
        """Those that are one expression."""
        for at in self.at(";"):
            first = self.partners.get(at - 1, at)  # x = (t){...};
            while self.names[first - 1] not in (";", "{", "}", "else", ":") and not self.is_head(first - 1):
                first = self.partners.get(first - 1, first - 1)
            is_declaration = re.match(r"(const )?\w+ (\* )*\w", " ".join(self.names[first:at]))
            if first < at and self.names[first] not in NO_CALL and not is_declaration:
                yield first, at

    def is_head(self, at):
        """The end of if (...)."""
        return self.names[at] == ")" and self.names[self.partners[at] - 1] in HEADS


def replaced(pattern, make):
    """An operator: each match of the pattern, with the new text for its group 1."""

    def sites(body):
        for found in re.finditer(pattern, body.code, re.M):
            new = make(found.group(1))
            if new is not None and new != found.group(1):
                yield Site(found.start(1), found.end(1), new)

    return sites


def each(find, *makers):
    """An operator: each value that is found, with the texts that are made of its own; none, when one is None."""

    def sites(body):
        for value in find(body):
            if value[0] <= value[1]:
                made = [make(body.part(value)) for make in makers]
                yield from (body.site(value, new) for new in made if new is not None)

    return sites


def is_changeable(old):
    return old not in ("0", "false", "NULL", "PAWL_OK") and not re.search(r"[^=!<>]=[^=]|\{", old)


def constant(new):
    return lambda old: new if is_changeable(old) else None


def negated(old):
    return f"!{old}" if re.fullmatch(OPERAND, old) and not old.startswith("!") else None


def no_terms(body):
    for value, operator in body.terms().items():
        yield body.site(value, "true" if operator == "&&" else "false")


def sides(body):
    """Of a ?: only one of its two values."""
    for at in body.at("?"):
        then = body.behind(at)
        other = body.behind(then[1] + 1)
        for value in then, other:
            yield body.site((body.before(at)[0], other[1]), body.part(value))


def no_addends(body):
    for at in body.at(*SUMS):
        if body.code[body.words[at][2]].isspace() and re.match(r"[\w)\]]", body.names[at - 1]):
            yield body.site((at, body.behind(at, *SUMS, *RELATIONS, *LOGIC, "?")[1]), "")


def arguments_for_calls(body):
    for at, arguments in body.calls():
        for value in arguments:
            yield body.site((at, body.partners[at + 1]), body.part(value))


def other_relations(body):
    for at in body.at(*RELATIONS):
        for new in RELATIONS:
            if new not in (body.names[at], RELATIONS[body.names[at]]):
                yield body.site((at, at), new)


def other_constants(body):
    """Those of the file that begin with the same words."""
    for at, name in enumerate(body.names):
        for new in body.constants if name in body.constants else ():
            if new != name and new.rpartition("_")[0] == name.rpartition("_")[0]:
                yield body.site((at, at), new)


OPERATORS = {
    "relation": replaced(r" (<=|>=|==|!=|<|>) ", RELATIONS.get),
    "other relation": other_relations,
    "and, or": replaced(r" (&&|\|\|)(?=\s)", {"&&": "||", "||": "&&"}.get),
    "no term": no_terms,
    "not": replaced(r"[( ](!)[\w(]", lambda old: ""),
    "negated": each(lambda body: [*body.conditions(), *body.terms()], negated),
    "always": each(Body.conditions, constant("true")),
    "never": each(Body.conditions, constant("false")),
    "one side": sides,
    "no statement": each(Body.statements, lambda old: None if NO_LOSS.match(old) else ";"),
    "no increment": replaced(r"([\w.>\[\]-]+(?:\+\+|--));", lambda old: ""),
    "not counted": replaced(r"[\w\]](\+\+|--)[^;]", lambda old: ""),
    "zero": each(Body.assigned, constant("0")),
    "zero operand": each(Body.operands, constant("0")),
    "no result": each(Body.returned, constant("0")),
    "no argument": each(Body.arguments, constant("0")),
    "argument for call": arguments_for_calls,
    "off by one": each(Body.values, "{} + 1".format, "{} - 1".format),
    "number": replaced(r"(?<![\w.])(0|[1-9]\d*)(?![\w.\]])", lambda old: str(int(old, 0) + 1)),
    "other constant": other_constants,
    "plus, minus": replaced(r"[\w)\]] ([-+]) [\w(]", {"+": "-", "-": "+"}.get),
    "no addend": no_addends,
    "truth": replaced(r"\b(true|false)\b", {"true": "false", "false": "true"}.get),
    "no member": replaced(r"(?<=[,{\s])(\.\w+ += [^,{}\n]+(?:,|(?=\})))", lambda old: ""),
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


def sites_of(sources, path, function):
    """{operator: its sites in the body} of those that find one."""
    begin, end = function.begin, function.end
    text, code = sources.text(path), mutants.masked(sources.text(path))
    constants = sorted(set(re.findall(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b", code)))
    body = Body(code[begin:end], text[begin:end], constants)
    found = {operator: [Site(a + begin, b + begin, new) for a, b, new in make(body)] for operator, make in OPERATORS.items()}
    return {operator: sites for operator, sites in found.items() if sites}


def draw(sources, areas, is_wanted, count, seed):
    """So many different defects; fewer when the source has no more of them."""
    source = [place for place in places(sources, areas) if is_wanted(place[0].name, place[1])]
    chance, drawn = random.Random(seed), {}
    for _ in range(count * 20):
        if len(drawn) == count or not source:
            break
        area, path, function = chance.choice(source)
        found = sites_of(sources, path, function)
        if not found:
            continue
        operator = chance.choice(sorted(found))
        site = chance.choice(found[operator])
        drawn.setdefault((path, site), defect(area, path, sources.text(path), function.name, operator, site))
    return list(drawn.values())
