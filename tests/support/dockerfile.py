#!/usr/bin/env python3
# dockerfile.py - rules that dist/container/Dockerfile keeps to; prints a line for each that it breaks.
#
#   dockerfile.py check FILE      the rules
#   dockerfile.py health FILE     the words of HEALTHCHECK's command, a line each
#
# SPDX-License-Identifier: Apache-2.0
import json
import re
import sys


def instructions(text):
    """(name, rest) of each, with continued lines joined and comments left out."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [tuple(line.split(None, 1)) for line in joined.splitlines() if line.strip()]


def words_of(rest):
    """The exec form; None for the shell form, in which a shell is process 1."""
    try:
        words = json.loads(rest)
    except ValueError:
        return None
    return words if isinstance(words, list) and all(isinstance(word, str) for word in words) else None


def health_command(found):
    rests = [rest for name, rest in found if name == "HEALTHCHECK"]
    parts = re.fullmatch(r"((?:--\S+\s+)*)CMD\s+(.*)", rests[0]) if len(rests) == 1 else None
    return words_of(parts.group(2)) if parts else None


def broken_rules(found):
    names = [name for name, _ in found]

    def rests(wanted):
        return [rest for name, rest in found if name == wanted]

    runs = " ".join(rests("RUN"))
    from_image = rests("FROM")
    rules = [
        (len(from_image) == 1 and re.fullmatch(r"debian:\d+-slim", from_image[0]), "FROM one Debian of a named version"),
        ("ADD" not in names and "MAINTAINER" not in names, "no ADD, no MAINTAINER"),
        (all("\n" not in rest and not re.search(r"(^|[^&])&[^&]|;", rest) for rest in rests("RUN")),
         "commands of a RUN are joined by &&: a failure ends the build"),
        ("apt-get install --yes --no-install-recommends" in runs, "apt-get installs without recommendations"),
        (not re.search(r"\bapt (install|update)|\bsudo\b|apt-get (dist-)?upgrade", runs), "apt-get alone, no sudo, no upgrade"),
        ("rm -rf /var/lib/apt/lists/*" in runs, "the lists of apt are removed in the same RUN"),
        (rests("USER") and re.fullmatch(r"[1-9]\d*", rests("USER")[-1]), "the last USER is a number, and not root's"),
        (names and names.index("USER") > max(i for i, name in enumerate(names) if name == "RUN") if "USER" in names else False,
         "USER stands behind the last RUN"),
        (rests("STOPSIGNAL") == ["SIGTERM"], "STOPSIGNAL SIGTERM"),
        (rests("ENTRYPOINT") and words_of(rests("ENTRYPOINT")[-1]) == ["pawl"], "ENTRYPOINT in exec form: pawl is process 1"),
        (rests("CMD") and words_of(rests("CMD")[-1]), "CMD in exec form"),
        (health_command(found), "HEALTHCHECK with a command in exec form"),
        (all(rest.startswith("/") for rest in rests("WORKDIR")), "WORKDIR is absolute"),
    ]
    return [text for is_kept, text in rules if not is_kept]


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        found = instructions(file.read())
    if sys.argv[1] == "health":
        print("\n".join(health_command(found)))
        return 0
    broken = broken_rules(found)
    print("\n".join(broken), end="\n" if broken else "")
    return 1 if broken else 0


sys.exit(main())
