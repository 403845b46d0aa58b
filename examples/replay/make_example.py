#!/usr/bin/env python3
# make_example.py - writes example.csv: 300 repairs of a made-up repair shop.
#
#     python3 make_example.py > example.csv
#
# The log holds on purpose what real logs hold: rows that are sorted by case and
# not by time, timestamps in several forms, quoted fields with commas, quotes
# and line breaks, events without a group, events of the same moment, and
# repairs that come back after more than 30 days, one of them after exactly 30.
# The output is always the same; what a replay of it must come to is written to
# standard error.
#
# SPDX-License-Identifier: Apache-2.0
import csv
import sys
from datetime import datetime, timedelta, timezone

CASES = 300
BEGIN = datetime(2024, 1, 8, 8, 0, tzinfo=timezone.utc)
QUIET = timedelta(days=30)
BATCH = 50

HEADER = ["case:concept:name", "case:device", "concept:name", "org:group", "time:timestamp",
          "note"]
DEVICES = ["Phone", "Laptop", "Coffee machine", "Bicycle, electric", "Camera", "Game console"]
BENCHES = {"Phone": "Electronics", "Laptop": "Electronics", "Camera": "Optics",
           "Game console": "Electronics", "Coffee machine": "Workshop",
           "Bicycle, electric": "Workshop"}
NOTES = [""] * 12 + [
    "customer waits", "screen cracked, battery \"swollen\"",
    "called the customer:\nprice agreed", "smells burnt, see photo",
    "part ordered twice;\nsecond one returned", "Gerät läuft wieder"]


class Dice:
    """A repeatable sequence that does not depend on the version of Python."""

    def __init__(self, seed):
        self.state = seed

    def below(self, limit):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % limit

    def pick(self, items):
        return items[self.below(len(items))]


def steps_of(dice, device):
    """One visit to the shop: activities and who does them."""
    steps = [("Receive device", "Front desk"), ("Diagnose", BENCHES[device])]
    if dice.below(100) < 40:
        steps += [("Quote price", "Front desk")]
        if dice.below(100) < 12:
            return steps + [("Quote declined", ""), ("Hand over", "Front desk")]
    if dice.below(100) < 25:
        steps += [("Order part", "Stock"), ("Part arrives", "Stock")]
    steps += [("Repair", BENCHES[device]), ("Test", "Quality")]
    if dice.below(100) < 15:
        steps += [("Repair", BENCHES[device]), ("Test", "Quality")]
    steps += [("Invoice", "Billing"), ("Hand over", "Front desk")]
    return steps if dice.below(100) < 70 else steps[:-1] + [("Ship", "Courier")]


def visit(dice, device, begin):
    """(time, activity, group) of one visit, hours to days apart."""
    now, events = begin, []
    for activity, group in steps_of(dice, device):
        events.append((now, activity, group))
        if dice.below(100) >= 10:  # the others happen at the same moment
            now += timedelta(minutes=15 + dice.below(60 * 30),
                             milliseconds=dice.below(2) * dice.below(1000))
    return events


def case_events(dice, number, device):
    # Whole hours, so that repairs begin at the same moment now and then.
    begin = BEGIN + timedelta(days=dice.below(330), hours=dice.below(10))
    events = visit(dice, device, begin)
    if number == 42:  # quiet for exactly 30 days: closed, then begun again
        return events + visit(dice, device, events[-1][0] + QUIET)
    if number == 43:  # a millisecond less: one repair
        return events + visit(dice, device, events[-1][0] + QUIET - timedelta(milliseconds=1))
    while dice.below(100) < 9:
        events += visit(dice, device, events[-1][0] + timedelta(days=25 + dice.below(60)))
    return events


def time_text(dice, time):
    """The same moment in one of the forms that real logs use."""
    offset = timezone(timedelta(minutes=dice.pick([0, 60, 120, -300, 330])))
    form = dice.below(5)
    if form == 0:
        return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    local = time.astimezone(offset)
    if form == 1 and time.microsecond == 0:
        return local.isoformat(sep=" ", timespec="seconds")
    return local.isoformat(sep=" " if form % 2 else "T",
                           timespec="microseconds" if form < 4 else "milliseconds")


def report(rows):
    """What a replay must come to, counted once more."""
    last, closings, groups = {}, 0, {}
    for time, case, group in sorted(rows, key=lambda row: row[0]):
        if case in last and time - last[case] >= QUIET:
            closings += 1
        last[case] = time
        groups[group] = groups.get(group, 0) + 1
    batches = sum(-(-count // BATCH) for count in groups.values())
    print(f"events {len(rows)} cases {len(last)} closings {closings + len(last)} "
          f"groups {len(groups)} batches {batches}", file=sys.stderr)


def main():
    dice = Dice(20240108)
    rows = []
    sys.stdout.reconfigure(encoding="utf-8", newline="")
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(HEADER)
    for number in range(1, CASES + 1):
        device = dice.pick(DEVICES)
        for time, activity, group in case_events(dice, number, device):
            case = f"repair-{number:04}"
            out.writerow([case, device, activity, group, time_text(dice, time),
                          dice.pick(NOTES)])
            rows.append((time, case, group))
    report(rows)


main()
