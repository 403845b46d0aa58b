#!/usr/bin/env python3
"""amalgamate.py FOLDER - writes pawl.h and pawl.c: the library, the memory store and SQLite in two files.

    cc -std=c17 app.c pawl.c -lsqlite3 -lyyjson

pawl.h has all headers of include/pawl. pawl.c has all sources, the headers that only they see first. Each source
keeps its own names: one that is static, a type or an enumerator of a source and is known to another source, to a
header or to the C library as well gets the source's path behind it (`find` is find_runtime_reader), and a macro
ends with its source. With -DPAWL_OMIT_SQLITE the memory store is the only one, and -lsqlite3 is not needed.

The same sources make the same files. Tests: tests/system/amalgamation.sh

SPDX-License-Identifier: Apache-2.0
"""
import collections
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
DOORS = ["pawl", "operate", "test", "driver"]
SQLITE = ["store/sql", "store/sql/dialects", "store/program", "store/sqlite"]
# module.c loads modules, and store/linked has its functions; of the generic SQL store SQLite needs a part.
LEFT_OUT = re.compile(r"""store/core/module\.c|store/sql/dialects/(?!sqlite\.c).*|store/sql/(ahead|failure|family|look
    |queue_lock|queue_stamp|remote|rights|session)\.c""", re.X)
TABLE = "pawl_store_driver"  # of each module; here with the name of the module

# Names of the C library that a source uses for its own, since it does not include the header.
LIBRARY = set("""accept close connect index listen link log open pause poll read recv remove rename round select
send signal sleep stat step sync system time times truncate wait write""".split())
KEYWORDS = set("""_Alignas _Alignof _Atomic _Static_assert __attribute__ alignas alignof auto const do else enum extern
for if inline register restrict return sizeof static struct switch typedef union volatile while""".split())

TOKEN = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[A-Za-z_]\w*
    |\.?\d(?:[eEpP][-+]|[\w.])*|->|\.\.\.|\s+|.""", re.S | re.X)
DIRECTIVE = re.compile(r"^[ \t]*#[^\n]*(?:(?<=\\)\n[^\n]*)*", re.M)
GUARD = re.compile(r"^#ifndef (\w+_H)\n#define \1\n", re.M)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"][^\n]*\n', re.M)


def is_name(token):
    return token[0].isalpha() or token[0] == "_"


def is_code(token):
    return not token.isspace() and not token.startswith(("/*", "//"))


def library_folders():
    """The folders of libpawl.so, as CMakeLists.txt lists them."""
    text = (TOP / "CMakeLists.txt").read_text()
    return re.search(r"set\(library_folders ([^)]*)\)", text).group(1).split()


def declared(text):
    """The names that a source or header declares outside of functions, but for macros and for those of the whole
    library. A name in upper case that is no enumerator is a macro in use."""
    code = [t for t in TOKEN.findall(DIRECTIVE.sub("", text)) if is_code(t)]
    names, stack, in_value = set(), [], False
    for i, token in enumerate(code):
        before, after = code[i - 1] if i else ";", code[i + 1] if i + 1 < len(code) else ";"
        if token in "{([":
            stack.append("enum" if token == "{" and "enum" in (before, code[i - 2]) else token)
        elif token in "})]":
            stack.pop()
        elif not stack and token in ";,=":
            in_value = token == "="
        elif not is_name(token) or token in KEYWORDS or token.startswith(("pawl_", "PAWL_")):
            continue
        elif stack == ["enum"] and before in "{,":
            names.add(token)
        elif re.fullmatch("[A-Z0-9_]+", token):
            continue
        elif stack == ["("] and before == "*" and after == ")" and code[i - 2] == "(":
            names.add(token)  # a pointer to a function
        elif not stack and not in_value and (after in ("(", "[", "=", ";", ",") or
                                             (before in ("struct", "union", "enum") and after == "{")):
            names.add(token)
    return names


def texts_of(definitions, known):
    """Of each macro, (name, parameters, body), and of those that are known the numbers of its parameters that become
    a text or a part of a name. A macro that hands one on to such a macro counts as well."""
    found = collections.defaultdict(set, {name: set(numbers) for name, numbers in known.items()})
    for name, _, _ in definitions:
        found.pop(name, None)
    size = -1
    while size != sum(map(len, found.values())):
        size = sum(map(len, found.values()))
        for name, parameters, body in definitions:
            calls = []  # of the macros that are open: name, index of the argument
            code = [t for t in re.findall(r'"(?:\\.|[^"])*"|\w+|##|\S', body)]
            for i, token in enumerate(code):
                before, after = code[i - 1] if i else "", code[i + 1] if i + 1 < len(code) else ""
                if token == "(":
                    calls.append([before, 0])
                elif token == ")" and calls:
                    calls.pop()
                elif token == "," and calls:
                    calls[-1][1] += 1
                elif token in parameters and (before in ("#", "##") or after == "##" or
                                              calls and calls[-1][1] in found.get(calls[-1][0], ())):
                    found[name].add(parameters.index(token))
    return found


def renamed(text, names, suffix, texts):
    """The text with the suffix behind these names, wherever they do not name a member of a struct, nor are a text
    or a part of a name."""
    tokens = TOKEN.findall(text)
    code = [i for i, t in enumerate(tokens) if is_code(t)]
    place = {index: order for order, index in enumerate(code)}
    stack, calls = [], []
    for index in code:
        token, order = tokens[index], place[index]
        before = tokens[code[order - 1]] if order else ";"
        after = tokens[code[order + 1]] if order + 1 < len(code) else ";"
        if token == "(":
            calls.append([before, 0])
        elif token == ")" and calls:
            calls.pop()
        elif token == "," and calls:
            calls[-1][1] += 1
        if calls and calls[-1][1] in texts.get(calls[-1][0], ()):
            continue
        if token == "{":
            two = tokens[code[order - 2]] if order > 1 else ";"
            stack.append("struct" if {before, two} & {"struct", "union"} else "{")
        elif token == "}":
            if stack:
                stack.pop()
        elif token in names and before not in (".", "->") and not (
                stack and stack[-1] == "struct" and before not in ("struct", "union", "enum") and
                (after in (";", ",", "[", ":") or (before == "*" and after == ")"))):
            tokens[index] = token + suffix
    return "".join(tokens)


def is_in_condition(text, place):
    """Whether an #if other than a header's guard is open at this place of the text."""
    before = text[:place]
    conditions = re.findall(r"^[ \t]*#[ \t]*(if|endif)", before, re.M)
    return conditions.count("if") - conditions.count("endif") > len(GUARD.findall(before))


class Amalgamation:
    def __init__(self):
        self.done = set()  # headers, and those of the system

    def expanded(self, path, text, heads):
        """The text without its includes: those of headers go to `heads`, in their order; a list without a guard
        and a header of the system in an #if stay where they are. `path` is the text's, from the project's folder."""
        def one(match):
            kind, name = match.groups()
            if kind == "<" and not name.startswith("pawl/"):
                if is_in_condition(text, match.start()):
                    return match.group()
                if name not in self.done:
                    self.done.add(name)
                    heads.append("#include <%s>\n" % name)
                return ""
            folders = [pathlib.PurePath(path).parent, pathlib.PurePath("src"), pathlib.PurePath("include")]
            header = next(str(folder / name) for folder in folders if (TOP / folder / name).exists())
            inside = (TOP / header).read_text()
            if not GUARD.search(inside):
                return self.expanded(header, without_comment(inside), heads)
            if header not in self.done:
                self.done.add(header)
                before = []
                inside = self.expanded(header, inside, before)
                heads.extend(before)
                heads.append("/* ==== %s ==== */\n%s" % (header, inside))
            return ""
        return INCLUDE.sub(one, text)


def without_comment(text):
    return re.sub(r"\A/\*.*?\*/\n", "", text, flags=re.S)


def macros(text):
    return dict.fromkeys(re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", text, re.M))


def macros_with_parameters(text):
    found = re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\(([^)]*)\)((?:[^\n]*\\\n)*[^\n]*)", text, re.M)
    return [(name, [p.strip() for p in parameters.split(",")], body) for name, parameters, body in found]


def sources(folders):
    for folder in folders:
        for path in sorted((TOP / "src" / folder).glob("*.c")):
            name = path.relative_to(TOP / "src").as_posix()
            if not LEFT_OUT.fullmatch(name):
                yield name, path.read_text()


def part(whole, folders, taken, counts, texts):
    """The headers and the sources of the folders."""
    heads, bodies = [], []
    for name, text in sources(folders):
        body = whole.expanded("src/" + name, text, heads)
        own = declared(body)
        clashes = {n for n in own if counts[n] > 1 or n in taken or n in LIBRARY}
        suffix = "_" + re.sub(r"\W", "_", name[:-2])
        body = renamed(body, clashes, suffix, texts_of(macros_with_parameters(body), texts))
        if TABLE in body:
            body = re.sub(r"\b%s\b" % TABLE, TABLE + "_" + pathlib.PurePath(name).stem, body)
        ends = "".join("#undef %s\n" % macro for macro in macros(body))
        bodies.append("/* ==== %s ==== */\n%s%s" % (name, body, ends))
    return heads, bodies


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: scripts/amalgamate.py FOLDER")
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    whole = Amalgamation()
    public = []
    rest = sorted(p.stem for p in (TOP / "include/pawl").glob("*.h"))
    whole.expanded("include", "".join('#include "pawl/%s.h"\n' % name for name in DOORS + rest), public)
    version = re.search(r'#define PAWL_VERSION "([^"]*)"', "".join(public)).group(1)
    intro = "/* %s - pawl " + version + ", %s. Written by scripts/amalgamate.py.\n *\n" + \
        " * SPDX-License-Identifier: Apache-2.0\n */\n"
    (folder / "pawl.h").write_text(
        intro % ("pawl.h", "all of its headers") + "#ifndef PAWL_AMALGAMATED_H\n#define PAWL_AMALGAMATED_H\n" +
        "".join(public) + "#endif\n")

    library = library_folders()
    counts = collections.Counter()
    definitions = macros_with_parameters("".join(public))
    for _, text in sources(library + SQLITE + ["store/linked"]):
        counts.update(declared(text))
    taken = set()
    for path in sorted((TOP / "src").glob("**/*.h")):
        taken |= declared(path.read_text())
        definitions += macros_with_parameters(path.read_text())
    texts = texts_of(definitions, {})
    heads, bodies = part(whole, library, taken, counts, texts)
    sql_heads, sql_bodies = part(whole, SQLITE, taken, counts, texts)
    linked_heads, linked_bodies = part(whole, ["store/linked"], taken, counts, texts)
    (folder / "pawl.c").write_text(
        intro % ("pawl.c", "the library, the memory store and SQLite") +
        "#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n" +
        "#ifndef _FILE_OFFSET_BITS\n#define _FILE_OFFSET_BITS 64\n#endif\n#include \"pawl.h\"\n" +
        "#if defined(__GNUC__) /* functions of headers that no source here calls */\n" +
        "#pragma GCC diagnostic ignored \"-Wunused-function\"\n#endif\n" +
        "".join(heads + bodies) +
        "#ifndef PAWL_OMIT_SQLITE\n#define PAWL_LINKED STORE(sqlite)\n" + "".join(sql_heads + sql_bodies) + "#endif\n" +
        "".join(linked_heads + linked_bodies))


main()
