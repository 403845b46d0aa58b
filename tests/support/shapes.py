#!/usr/bin/env python3
# shapes.py - the sizes and places that a compiled program knows of the public headers.
#
#   shapes.py probe INCLUDE        prints a C program; compiled against headers, it prints a line for
#                                  each struct and each constant of an enum that INCLUDE has
#   shapes.py compare OLDER NEWER  compares what the program printed with two sets of headers; prints
#                                  what breaks a program that was compiled with the older ones
#   shapes.py sized INCLUDE        prints the structs that may get members at their end
#
# The rule is in include/pawl/api.h. Used by tests/system/headers_before.sh and abi_soak.sh.
#
# SPDX-License-Identifier: Apache-2.0
import pathlib
import re
import sys

# Their size is a member of another struct: pawl_application, pawl_endpoint_options, pawl_record.
SIZED_ELSEWHERE = {
    "pawl_application", "pawl_endpoint_spec", "pawl_saga", "pawl_on", "pawl_aggregator", "pawl_handler",
    "pawl_filter", "pawl_process", "pawl_projection", "pawl_effect", "pawl_schedule", "pawl_route",
    "pawl_recovery", "pawl_field",
}


def text_of(include):
    """All headers without comments and preprocessor lines."""
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(pathlib.Path(include, "pawl").glob("*.h")))
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"^#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)


def member_of(statement):
    """The name that a declaration ends with, or that of a pointer to a function."""
    pointer = re.search(r"\(\s*\*\s*(\w+)\s*\)\s*\(", statement)
    name = pointer or re.search(r"(\w+)\s*(?:\[[^\]]*\])?\s*$", statement)
    return name.group(1)


def structs_of(text):
    """Name, whether it may grow, and the last member; None where a macro writes the members."""
    for name, body in re.findall(r"\bstruct (pawl_\w+) \{(.*?)\n\}", text, flags=re.S):
        members = [part.strip() for part in re.sub(r"\{[^{}]*\}", " ", body).split(";")]
        members = [part for part in members if part and not re.match(r"PAWL_[A-Z_]+\(", part)]
        begins = bool(members) and re.match(r"size_t\s+\w+_size$", members[0]) is not None
        yield name, begins or name in SIZED_ELSEWHERE, member_of(members[-1]) if members else None


def constants_of(text):
    for body in re.findall(r"\benum pawl_\w+ \{(.*?)\n\}", text, flags=re.S):
        yield from re.findall(r"^\s*(PAWL_[A-Z0-9_]+)\s*(?:=[^,\n]*)?,?\s*$", body, flags=re.M)


def probe(include):
    text = text_of(include)
    print("#include <pawl/driver.h>\n#include <pawl/operate.h>\n#include <pawl/pawl.h>\n#include <pawl/test.h>")
    print("#include <stdio.h>\nint main(void)\n{")
    for name, grows, last in sorted(structs_of(text), key=lambda row: row[0]):
        kind = "grows" if grows else "stays"
        offset = f"offsetof(struct {name}, {last})" if last else "sizeof(char) - 1"
        print(f'    printf("struct {name} {kind} %zu {last} %zu\\n", sizeof(struct {name}), {offset});')
    for name in sorted(set(constants_of(text))):
        print(f'    printf("enum {name} %d\\n", (int){name});')
    print("    return 0;\n}")


def compare(older, newer):
    before = [line.split() for line in pathlib.Path(older).read_text(encoding="utf-8").splitlines()]
    after = {line.split()[1]: line.split() for line in pathlib.Path(newer).read_text(encoding="utf-8").splitlines()}
    for line in before:
        now = after[line[1]]
        if line[0] == "enum":
            if line != now:
                print(f"{line[1]}: was {line[2]}, is {now[2]}")
        elif line[2] == "grows":
            if now[5] != line[5] or int(now[3]) < int(line[3]):
                print(f"{line[1]}: {line[4]} was at byte {line[5]} of {line[3]}, is at {now[5]} of {now[3]}")
        elif line[3:] != now[3:]:
            print(f"{line[1]}: has no size in it, and had {line[3]} bytes, has {now[3]}; "
                  f"{line[4]} was at byte {line[5]}, is at {now[5]}")


if sys.argv[1] == "probe":
    probe(sys.argv[2])
elif sys.argv[1] == "sized":
    print(*(name for name, grows, _ in structs_of(text_of(sys.argv[2])) if grows), sep="\n")
else:
    compare(sys.argv[2], sys.argv[3])
