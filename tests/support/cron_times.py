#!/usr/bin/env python3
"""cron_times.py SEED COUNT - lines of cron with all times that they name in a few days.

Each minute of the days is looked at by Python's zoneinfo, which has nothing in common with
src/base/cron.c. One line for each case: zone, cron line, first and last second, times in seconds;
tabs between them, blanks between the times.

SPDX-License-Identifier: Apache-2.0
"""
import datetime
import random
import sys
import zoneinfo

ZONES = ["Europe/Berlin", "America/New_York", "America/St_Johns", "America/Santiago", "Asia/Kathmandu",
         "Asia/Tokyo", "Australia/Lord_Howe", "Europe/Dublin", "Africa/Casablanca", "Pacific/Apia",
         "Pacific/Chatham", "Asia/Tehran", "America/Sao_Paulo", "Asia/Gaza", "Antarctica/Troll",
         "America/Nuuk", "Africa/Cairo", "UTC"]
RANGES = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 7)]
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
DAY = 86400


def field(random, low, high):
    kind = random.randrange(6)
    if kind < 2:
        return "*"
    if kind == 2:
        return "*/%d" % random.randint(1, high // 2)
    if kind == 3:
        first = random.randint(low, high)
        return "%d-%d/%d" % (first, random.randint(first, high), random.randint(1, 4))
    return ",".join(str(random.randint(low, high)) for _ in range(random.randint(1, 3)))


def named(text, low, high):
    values = set()
    for item in text.split(","):
        span, _, step = item.partition("/")
        first, _, last = span.partition("-")
        if span == "*":
            first, last = low, high
        values.update(range(int(first), int(last or first) + 1, int(step or 1)))
    return values


class Line:
    def __init__(self, fields):
        self.fields = fields
        sets = [named(text, *limits) for text, limits in zip(fields, RANGES)]
        self.minutes, self.hours, self.days, self.months, weekdays = sets
        self.weekdays = {value % 7 for value in weekdays}
        self.either = fields[2][0] != "*" and fields[4][0] != "*"

    def has_days(self):
        last = {2: 29, 4: 30, 6: 30, 9: 30, 11: 30}
        return self.either or any(min(self.days) <= last.get(month, 31) for month in self.months)

    def names(self, wall):
        day = wall.day in self.days
        weekday = wall.isoweekday() % 7 in self.weekdays
        return (wall.minute in self.minutes and wall.hour in self.hours and wall.month in self.months
                and (day or weekday if self.either else day and weekday))


def times(line, zone, start, end):
    found = []
    minute = datetime.timedelta(minutes=1)
    before = (EPOCH + datetime.timedelta(seconds=start - 60)).astimezone(zone).replace(tzinfo=None)
    for second in range(start, end, 60):
        aware = (EPOCH + datetime.timedelta(seconds=second)).astimezone(zone)
        wall = aware.replace(tzinfo=None, fold=0)
        left_out = before + minute
        is_hourly = len(line.hours) == 24
        is_due = line.names(wall) and (aware.fold == 0 or is_hourly)
        while left_out < wall and not is_due and not is_hourly:
            is_due = line.names(left_out)
            left_out += minute
        if is_due:
            found.append(second)
        before = wall.replace(fold=0)
    return found


def offset(zone, second):
    return (EPOCH + datetime.timedelta(seconds=second)).astimezone(zone).utcoffset()


def near_a_change(random, zone, second):
    """A day before the next change of the clocks, when there is one in a year."""
    for day in range(366):
        if offset(zone, second + (day + 1) * DAY) != offset(zone, second + day * DAY):
            return second + (day - 1) * DAY + random.randrange(DAY // 60) * 60
    return second


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    chance = random.Random(seed)
    for _ in range(count):
        name = chance.choice(ZONES)
        zone = zoneinfo.ZoneInfo(name)
        start = chance.randrange(10 * 365 * DAY // 60, 130 * 365 * DAY // 60) * 60
        if chance.randrange(4) != 0:
            start = near_a_change(chance, zone, start)
        line = Line([field(chance, *limits) for limits in RANGES])
        if chance.randrange(2) or not line.has_days():
            line = Line(line.fields[:2] + ["*", "*", "*"])
        end = start + 2 * DAY
        found = " ".join(str(second) for second in times(line, zone, start, end))
        print(name, " ".join(line.fields), start, end, found, sep="\t")


main()
