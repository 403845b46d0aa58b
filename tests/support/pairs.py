# pairs.py - options of the command by their effect, alone and in pairs.
#
#     pairs.py KEY COMMAND ... <TABLE
#
# A line of the table is an option with its value, "|", and the rows that it selects: "--type parcel | d1 d3". The command
# runs with each option alone, and with each two of different names: the rows that it prints are those that both select.
# KEY is the member of a printed object that names its row; "matching" and the like, a number: how many rows they are.
#
# SPDX-License-Identifier: Apache-2.0
import itertools
import json
import shlex
import subprocess
import sys


def read_table():
    for line in sys.stdin:
        if line.strip():
            option, rows = line.split("|")
            yield shlex.split(option), set(rows.split())


def rows_of(command, key):
    run = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if run.returncode != 0:
        return f"exit code {run.returncode}, {run.stderr.strip()}"
    found = [json.loads(line)[key] for line in run.stdout.splitlines()]
    if key in ("matching", "count"):
        return found[0]
    return sorted(str(row) for row in found)


def main():
    key, command = sys.argv[1], sys.argv[2:]
    table = list(read_table())
    wrong = 0
    sets = [(one,) for one in table]
    sets += [two for two in itertools.combinations(table, 2) if two[0][0][0] != two[1][0][0]]
    for chosen in sets:
        options = [word for option, _ in chosen for word in option]
        rows = sorted(set.intersection(*(rows for _, rows in chosen)))
        wanted = len(rows) if key in ("matching", "count") else rows
        found = rows_of(command + options, key)
        if found != wanted:
            wrong += 1
            print(f"{' '.join(command + options)}: {found} instead of {wanted}")
    print(f"{len(sets)} sets of options, {wrong} wrong")
    sys.exit(wrong > 0)


main()
