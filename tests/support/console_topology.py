"""console_topology.py - what the stories of console_story.py see in the picture of an application's topology.

SPDX-License-Identifier: Apache-2.0
"""
import json
import os

from browser import must


def see_circles(page):
    """Endpoints that message each other are drawn in as many columns as there are endpoints at most, and at once."""
    page.run("""window.own = window.fetch; window.drawn = (name, sends) => {
        const endpoints = Object.entries(sends).map(([name, to]) => ({ name, queue: name, parts: [{ kind: "process", name: "P",
          handles: [{ message: "m", does: to.map((endpoint) => ({ kind: "send", message: "n", endpoint })) }] }] }));
        window.fetch = async (path, ...more) => path.includes("topology/print")
          ? new Response(JSON.stringify({ items: [{ application: name, endpoints }], notes: [] })) : window.own(path, ...more);
        location.hash = `#/topology?${name}`; };
        window.columns = () => Object.fromEntries([...document.querySelectorAll(".flow rect")].map((one) =>
          [one.nextSibling.textContent, (one.getAttribute("x") - 10) / 420]));
        const all = Array.from({ length: 20 }, (_, i) => `e${i}`);
        window.drawn("mesh", Object.fromEntries(all.map((name, i) => [name, all.filter((_, j) => j !== i)])));""")
    page.wait("h1", "Topology of mesh")
    must(page.run("return Math.max(...Object.values(window.columns()))") == 19, "endpoints that all message each other have more columns")
    for name, sends, columns in [
            ("replies", {"a": ["b", "c"], "b": ["a"], "c": ["a"]}, {"a": 0, "b": 1, "c": 1}),
            ("ways", {"a": [], "b": ["a"], "c": ["a", "b", "c"]}, {"c": 0, "b": 1, "a": 2}),
            ("begun", {"a": ["b"], "b": ["a"], "z": ["b", "z"]}, {"z": 0, "b": 1, "a": 2})]:
        page.run("window.drawn(...arguments)", name, sends)
        page.wait("h1", f"Topology of {name}")
        found = page.run("return window.columns()")
        must(found == columns, f"{name}: columns {found}")
    page.run("window.fetch = window.own")


def see_arrows(page):
    """Each arrow leads where the message goes: also through a route, to handlers of a base type, and to a queue that an endpoint is named like."""
    with open(f"{os.environ['PAWL_SOURCE_DIR']}/tests/golden/topology/json", encoding="utf-8") as file:
        shop = json.load(file)

    def sends(message, **more):
        return {"kind": "send", "message": message, **more}
    office = {"application": "office", "endpoints": [
        {"name": "orders", "queue": "orders", "routes": [{"name": "post", "leads_to": "url", "url": "postgres://letters.example.com:5432/archive", "queue": "letters"}],
         "parts": [{"kind": "handler", "name": "h", "handles": [{"message": "place", "does": [
             sends("charge", destination="billing", queue="billing"), sends("letter", destination="post"), {"kind": "publish", "message": "closed"}]}]}]},
        {"name": "billing", "queue": "desk", "routes": [], "parts": [{"kind": "handler", "name": "h", "handles": [{"message": "charge", "does": None}]}]},
        {"name": "post", "queue": "post", "routes": [], "parts": [{"kind": "projection", "name": "h", "handles": [{"message": "closed", "does": []}]}]}]}
    desk = "<office> & #2"
    wanted = {"shop": {"orders > queue books": "charge_card", f"orders > {desk}": "charge_card, order_cancelled", f"{desk} > orders": "payment_taken",
                       "orders > route carrier": "ship_item", "orders > route paper": "ship_item",
                       'orders > queue a "b" \\n #1 <i>&|`c`[d]\n{e}': "ship_item"},
              "office": {"orders > queue billing": "charge", "orders > route post": "letter"}}
    page.run("""window.own = window.fetch; window.seen = {}; window.fetch = async (path, ...more) => path.includes("topology/print")
          ? new Response(JSON.stringify({ items: [window.drawn], notes: [] })) : window.own(path, ...more);
        window.arrows = () => {
          const number = (one, name) => Number(one.getAttribute(name));
          const boxes = [...document.querySelectorAll(".flow rect")].map((one) => ({ x: number(one, "x"), y: number(one, "y"), title: one.nextSibling.textContent }));
          return Object.fromEntries([...document.querySelectorAll(".flow path:not(.tip)")].map((one) => {
            const at = one.getAttribute("d").match(/-?[0-9.]+/g).map(Number), from = boxes.findLast((box) => box.x + 230 === at[0] && box.y <= at[1]);
            const to = boxes.find((box) => box.x - 7 === at[6] && box.y + 16 === at[7]);
            return [`${from.title} > ${to.title}`, one.nextSibling.nextSibling.textContent]; })); };""")
    for drawn in (shop, office):
        name = drawn["application"]
        page.run("window.drawn = arguments[0]; location.hash = `#/topology?${arguments[0].application}`", drawn)
        page.wait("h1", f"Topology of {name}")
        found = page.run("return window.arrows()")
        must(found == wanted[name], f"{name}: the arrows are {found}")
        if drawn is shop:
            page.wait(".flow svg text", "to itself: news")  # by its schedules
            page.wait("li", "route carrier postgres://me:***@far/db, queue vans")
            page.wait("li span", "send ship_item to any destination")
        else:
            page.wait("li span", "send charge to queue billing")
            page.wait(".flow svg text", "queue letters")  # a long URL does not hide it
    page.run("window.fetch = window.own")
