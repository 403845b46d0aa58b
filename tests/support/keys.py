#!/usr/bin/env python3
# keys.py - every key that a verb prints with --json stands in its help.
#
#   keys.py HELP-FILE < OUTPUT      prints those that do not, each with the line that has it first
#
# Keys of headers, metadata, state and bodies are the application's.
#
# SPDX-License-Identifier: Apache-2.0
import json
import sys

APPLICATIONS_OWN = {"headers", "metadata", "state", "body"}


def keys_of_help(path):
    """Words of the rows below "keys of --json", and the arrays that the rows are named by."""
    keys, is_there = set(), False
    with open(path, encoding="utf-8") as page:
        for line in page:
            if line.startswith("keys of --json"):
                is_there = True
            elif is_there and line.startswith("  "):
                keys.update(line[28:].split())
                what = line[2:28].strip()
                if ", of show" in what:
                    keys.add(what.split(",")[0])
    return keys


def keys_of(value):
    if isinstance(value, list):
        for item in value:
            yield from keys_of(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            if key not in APPLICATIONS_OWN:
                yield from keys_of(item)


def main():
    known, unknown = keys_of_help(sys.argv[1]), set()
    for line in sys.stdin:
        for key in keys_of(json.loads(line)):
            if key not in known and key not in unknown:
                unknown.add(key)
                print(f"{key}, of {line.rstrip()[:200]}")


main()
