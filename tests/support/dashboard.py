#!/usr/bin/env python3
"""dashboard.py URL DASHBOARD PAGE - runs the queries of a dashboard against a Prometheus.

Each query of the dashboard must have data, with one number at least; each alert of the page must be
understood. Waits, bounded, until a rate has two samples. A query of a metric that the page does not
name fails at once.

SPDX-License-Identifier: Apache-2.0
"""
import json
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

SECONDS = 60


def ask(url, path, **words):
    where = f"{url}/api/v1/{path}?{urllib.parse.urlencode(words)}"
    try:
        with urllib.request.urlopen(where, timeout=10) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as failure:
        return json.load(failure)


def queries_of(dashboard):
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"]


def filled(query):
    """The query with Grafana's variables filled in; another one than these is a failure."""
    query = query.replace("$__rate_interval", "1m").replace("$job", ".*")
    if "$" in query:
        sys.exit(f"FAILED: a variable that nobody fills in: {query}")
    return query


def has_number(answer):
    values = [row["value"][1] for row in answer["data"]["result"]]
    return any(value not in ("NaN", "+Inf", "-Inf") for value in values)


def check(url, title, query, page):
    for name in re.findall(r"pawl_[a-z_]+", query):
        if not re.search(re.sub(r"_(bucket|sum|count)$", "", name) + r"\b", page):
            sys.exit(f"FAILED: {title}: the page has no metric {name}: {query}")
    end = time.monotonic() + SECONDS
    while True:
        answer = ask(url, "query", query=query)
        if answer["status"] != "success":
            sys.exit(f"FAILED: {title}: {answer.get('error')}: {query}")
        if has_number(answer):
            return
        if time.monotonic() > end:
            sys.exit(f"FAILED: {title}: no data in {SECONDS} s: {query}: {answer['data']}")
        time.sleep(0.1)


def alerts_of(page):
    """The indented lines below "Example alerts:"."""
    lines = page.partition("Example alerts:\n\n")[2].split("\n\n")[0].splitlines()
    return [line.split("#")[0].strip() for line in lines if line.startswith("    ")]


def main():
    url = sys.argv[1]
    with open(sys.argv[2], encoding="utf-8") as file:
        dashboard = json.load(file)
    with open(sys.argv[3], encoding="utf-8") as file:
        page = file.read()
    alerts = alerts_of(page)
    count = 0
    for title, query in queries_of(dashboard):
        check(url, title, filled(query), page)
        count += 1
    for alert in alerts:
        answer = ask(url, "query", query=alert)
        if answer["status"] != "success":
            sys.exit(f"FAILED: {answer.get('error')}: {alert}")
    if count < 20 or len(alerts) < 5:
        sys.exit(f"FAILED: {count} queries and {len(alerts)} alerts are too few")
    print(f"{count} queries have data, {len(alerts)} alerts are understood")


main()
