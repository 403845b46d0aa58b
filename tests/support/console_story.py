"""console_story.py ADDRESS STORY[,STORY ...] [FOLDER] - what a user does in a browser at `pawl console`, and what he sees.

Run by tests/system/console_browser.sh, which prepares the store of each story.

SPDX-License-Identifier: Apache-2.0
"""
import re
import sys
import tempfile

import browser
from browser import must
from console_topology import see_arrows, see_circles

PAGES = ["trouble", "dead", "bulk", "find", "why", "saga", "conversation", "queue", "worker", "outbox", "timeout", "schedule",
         "projection", "aggregator", "events", "audit", "topology"]
FAILURE = ".note.bad:not(:has(.level))"  # a request that failed; what doctor found has a level


def see_pages(page, address):
    """Each page has its heading, no failure, and fits 400 px; keys reach what a mouse does."""
    for name in PAGES:
        page.go(f"{address}/#/{name}")
        page.wait(f'nav a[aria-current][href="#/{name}"]')
        page.wait("main:not([aria-busy]) h1")
        must(not page.find(FAILURE), f"page {name}: {page.text()[:400]}")
    page.size(420, 800)
    for name in PAGES:
        page.go(f"{address}/#/{name}")
        page.wait(f'nav a[aria-current][href="#/{name}"]')
        page.wait("main:not([aria-busy]) h1")
        wide = page.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        must(wide <= 0, f"page {name} is {wide} px too wide at 400 px")
    page.size(1280, 900)


def skipped(page, address):
    """The first stop of the Tab key leads behind the links to the pages, and leaves the page as it is."""
    page.go(f"{address}/#/queue")
    page.wait("main:not([aria-busy]) h1", "Queues")
    page.run("document.querySelector('.skip').focus()")
    page.click(".skip")
    must(page.run("return document.activeElement.id + location.hash") == "view#/queue", "the link to the page leads away from it")
    page.run("document.activeElement.blur()")


def see_trouble(page, address):
    page.go(f"{address}/#/trouble")
    page.wait(".card", "Dead letters")
    page.wait(".note", "dead letters")
    page.click("#pause")
    page.wait("#live", "paused")
    page.run("""window.own = window.EventSource; window.fake = new EventTarget(); window.EventSource = function () { return window.fake; };
        window.fake.close = () => {}; window.tellStats = (more) => window.fake.dispatchEvent(new MessageEvent("stats", { data: JSON.stringify(
            [{ queues: [], checks: [], health: "healthy", failures: 0, timeouts: 0, dead: 0, timeouts_due: 0, outbox_pending: 0,
               outbox_dead: 0, aggregator_rows: 0, workers: 0, ...more }]) }));""")
    page.click("#pause")
    page.run("for (const [at, messages] of [['00:00:00', 1000], ['00:01:40', 1400], ['00:01:40', 1400]])"
             " window.tellStats({ at: `2999-01-01T${at}.000001Z`, messages })")
    page.wait(".card", "Messages a second4")  # by the times of the figures, which come all at once
    page.run("window.tellStats({ at: '2998-01-01T00:00:00.000001Z', messages: 1400 })")
    page.wait(".card", "Messages a second...")  # somebody set the clock
    page.run("window.tellDoctor = (data) => window.fake.dispatchEvent(new MessageEvent('doctor', { data })); window.tellDoctor('null')")
    page.wait(".note.bad", "did not answer")
    page.run("window.tellDoctor('[]')")
    page.wait(".note.good", "Nothing is wrong")
    page.run("window.EventSource.CLOSED = 2; window.fake.onerror()")
    page.wait("#live", "no connection")
    page.wait(".note.bad", "what is wrong now is not known")
    must(not page.find(".card, .note.good"), "figures and findings of a console that is gone are those of now")
    page.run("window.fake.onopen()")
    page.wait(".card", "Dead letters")
    page.wait(".note.good", "Nothing is wrong")
    page.click("#pause")
    page.run("window.EventSource = window.own")
    page.click("#pause")


def hostile(page, address):
    """A body, a type and an error that are HTML are text."""
    page.go(f"{address}/#/dead")
    page.wait("td", "<script>")
    page.click("td a", "hostile")
    page.wait("h1", "hostile")
    page.click("a", "Show the body")
    page.wait("pre", "<img src=x onerror=")
    must(not page.run("return Boolean(window.caught)"), "a script of a body ran")
    must(not page.find("main script, main img"), "a body became elements")


def hasty(page, address):
    """An answer that comes late does not take the place of the page that was chosen after it."""
    page.go(f"{address}/#/bulk")
    page.wait("main:not([aria-busy]) h1", "Bulk actions")
    page.run("""const own = window.fetch; window.fetch = async (path, ...more) => {
        const answer = await own(path, ...more);
        if (path.includes("queue/list")) await new Promise((done) => setTimeout(done, 1500));
        return answer; };
        location.hash = "#/queue"; setTimeout(() => { location.hash = "#/dead?type=charge"; }, 200);""")
    page.wait("main:not([aria-busy]) h1", "Dead letters")
    page.run("window.late = false; setTimeout(() => { window.late = true; document.body.append(Object.assign(document.createElement('i'), {id: 'late'})); }, 2500);")
    page.wait("#late")
    must("Dead letters" in page.run("return document.querySelector('h1').textContent"), "a late answer is shown")
    page.go(f"{address}/#/constructor")
    page.wait("h1", "There is no such page")


def audit(page, address):
    """A search for actions that stopped before it found any has no end yet."""
    page.go(f"{address}/#/bulk")
    page.wait("main:not([aria-busy]) h1", "Bulk actions")
    page.run("""window.fetch = async (path) => new Response(JSON.stringify(path.includes("after=77")
            ? { items: [{ seq: 5, action: "retried", stream: "pawl.dead_letter/m-1", version: 1, by: "ann" }], notes: [] }
            : { items: [], notes: ["the newest 100000 events were read; older ones: --after 77"] }));
        location.hash = "#/audit";""")
    page.wait(".note.warn", "the newest 100000 events were read")
    must("No operator has changed anything" not in page.text(), "operators changed nothing that was not read")
    page.click("a", "Older ones")
    page.wait("td a", "retried")


def paged(page, address):
    """The next page of a stream's events, which are listed by version, begins where this one ends."""
    page.go(f"{address}/#/bulk")
    page.wait("main:not([aria-busy]) h1", "Bulk actions")
    page.run("""window.own = window.fetch; window.fetch = async (path, ...more) => {
        if (!path.includes("events/list")) return window.own(path, ...more);
        const after = Number(/after=([0-9]+)/.exec(path)?.[1] ?? 153), rows = Array.from({ length: 100 }, (_, i) => after - 1 - i);
        return new Response(JSON.stringify({ notes: [], items: rows.filter((version) => version > 0).map((version) =>
          ({ seq: 1000 + version, at: null, stream: "s", version, type: "t" })) })); };
        location.hash = "#/events?stream=s";""")
    page.wait("td a", "1152")
    page.click("a", "Next page")
    page.wait("caption", "52 shown")
    page.run("window.fetch = window.own")


def narrowed(page, address):
    """Another filter joins those that the list came with; a list without a filter of its own has them, too."""
    page.go(f"{address}/#/timeout?saga=Order/01a213f8-2546-7001-b8d7-efe6e10c5328&limit=7")
    page.wait("main:not([aria-busy]) h1", "Timeouts")
    page.fill("input[name=name]", "late")
    page.click("form button", "Filter")
    page.wait("main:not([aria-busy]) h1", "Timeouts")
    words = page.run("return Object.fromEntries(new URLSearchParams(location.hash.split('?')[1]))")
    must(words == {"name": "late", "saga": "Order/01a213f8-2546-7001-b8d7-efe6e10c5328", "limit": "7"}, f"the list has other filters: {words}")
    page.wait("input[name=saga]")
    must(not page.find("input[name=limit]"), "a limit is no filter")


def grouped(page, address):
    """A group whose link leads to others as well says so: one without a code or an error, and one whose error is part of another."""
    page.go(f"{address}/#/bulk")
    page.wait("main:not([aria-busy]) h1", "Bulk actions")
    page.run("""const letters = [["t", "X", "timeout"], ["t", "X", "timeout of b"], ["t", "X", null], ["u", null, null], ["u", "Y", "e"]];
        window.own = window.fetch; window.fetch = async (path, ...more) => path.includes("dead/list")
          ? new Response(JSON.stringify({ notes: [], items: letters.map(([type, code, error], i) => ({ message_id: `m-${i}`, type, code, error })) }))
          : window.own(path, ...more);
        location.hash = "#/dead";""")
    page.wait(".card a", "t, X")
    cards = page.run("return [...document.querySelectorAll('.card')].map((one) => [...one.querySelectorAll('p')].slice(1).map((p) => p.textContent).join(' | '))")
    wanted = ["t, X | timeout | The link shows 1 more.", "t, X | timeout of b", "t, X | no error | The link shows 2 more.",
              "u, no code | no error | The link shows 1 more.", "u, Y | e"]
    must(cards == wanted, f"other groups: {cards}")
    page.run("window.fetch = window.own")


def cut(page, address):
    """Every list that ends at its limit leads on, or says that there are more rows."""
    page.go(f"{address}/#/bulk")
    page.wait("main:not([aria-busy]) h1", "Bulk actions")
    page.run("""window.own = window.fetch; window.fetch = async (path, ...more) => path.includes("limit=3") && path.includes("/list")
          ? new Response(JSON.stringify({ notes: [], items: ["a", "b", "c"].map((id) => ({ id, partition: id, message_id: id, seq: 1, action: id })) }))
          : window.own(path, ...more);""")
    for noun in ["dead", "outbox", "timeout", "aggregator", "events", "audit", "bulk"]:
        page.run("location.hash = arguments[0]", f"#/{noun}?limit=3")
        page.wait(f'nav a[aria-current][href="#/{noun}"]')
        page.wait("main:not([aria-busy]) caption", "3 shown")
        must("Only the first 3 are shown" in page.text() or page.find("a", "Next page"), f"{noun}: it seems to be all")
    page.run("window.fetch = window.own")


def named(page, address):
    """Each letter of an id that letters of two endpoints have is reached from the page that tells of both."""
    for endpoint in ("left", "right"):
        page.go("about:blank")
        page.go(f"{address}/#/why?arg=both")
        page.click("main a", f"The same id in dead letters of {endpoint}")
        page.wait("h1", "Dead letters: both")
        page.wait("dd", endpoint)


def bytes_lost(page, address):
    """Who edits a letter whose body is no text is told that its bytes do not come back."""
    page.go(f"{address}/#/bulk")
    page.wait("main:not([aria-busy]) h1", "Bulk actions")
    page.run("""window.own = window.fetch; window.fetch = async (path, ...more) => path.includes("dead/show?arg=raw")
          ? new Response(JSON.stringify({ notes: [], items: [{ message_id: "raw", endpoint: "odd", body: "a\ufffdb", body_size: 3 }] }))
          : window.own(path, ...more); location.hash = "#/dead/show?arg=raw";""")
    page.wait("h1", "Dead letters: raw")
    page.click("button", "Edit")
    page.wait("dialog p", "would be lost")
    page.click("dialog button", "Cancel")
    page.run("window.fetch = window.own; location.hash = '#/dead/show?arg=hostile'")
    page.wait("h1", "Dead letters: hostile")
    page.click("button", "Edit")
    page.wait("dialog p", "with this body")
    must("would be lost" not in page.run("return document.getElementById('ask').textContent"), "a text loses bytes")
    page.click("dialog button", "Cancel")


def as_stored(page, address):
    """A body is indented, and nothing of it is changed; one that is no JSON is as it is."""
    page.go(f"{address}/#/bulk")
    page.wait("main:not([aria-busy]) h1", "Bulk actions")
    page.run("""window.own = window.fetch; window.fetch = async (path, ...more) => path.includes("dead/show?arg=odd")
          ? new Response(JSON.stringify({ notes: [], items: [{ message_id: "odd", endpoint: "odd", body: window.body }] }))
          : window.own(path, ...more); window.see = (body) => { window.body = body; location.hash = `#/dead/show?arg=odd-${Math.random()}`; };""")
    for body, wanted in [(r'{"v":1.10, "v":1e2,"b":[ ],"2":{"n":[12345678901234567890,null]},"1":"a\"[,]{ :\u0041"}',
                          r'{| "v": 1.10,| "v": 1e2,| "b": [],| "2": {|  "n": [|   12345678901234567890,|   null|  ]| },| "1": "a\"[,]{ :\u0041"|}'),
                         ("{v:  1}", "{v:  1}")]:
        wanted = re.sub(r"\|( *)", lambda found: "\n" + 2 * found.group(1), wanted)
        page.run("window.see(arguments[0])", body)
        page.wait("pre", wanted)
        found = page.run("return document.querySelector('pre').textContent")
        must(found == wanted, f"the body is shown as {found}")
    page.run("window.fetch = window.own")


def left_alone(page, address):
    """A question does not stand over the page that the user goes on to, and is answered with no."""
    page.go(f"{address}/#/dead/show?arg=hostile")
    page.click("button", "Retry")
    page.wait("dialog h2", "Retry: hostile")
    page.run("location.hash = '#/queue'")
    page.wait("main:not([aria-busy]) h1", "Queues")
    must(not page.run("return document.getElementById('ask').open"), "the question is still there")
    page.go(f"{address}/#/dead/show?arg=hostile")
    page.wait("button", "Retry")  # it is there as before


def stopped(page, address):
    """What the command said beside its rows is shown, and where it did not say all, nothing says that there is none."""
    page.go(f"{address}/#/bulk")
    page.wait("main:not([aria-busy]) h1", "Bulk actions")
    page.run("""const answers = {
            "queue/show": [[{ queue: "billing" }], "show: stopped"], "queue/peek": [[], "peek: stopped"], "why": [[], "why: stopped"],
            "saga/show": [[{ type: "Order", id: "o-1" }], "saga: stopped"], "topology/print": [[{ endpoints: [] }], ""],
            "bulk/show": [[{ id: "b-1", state: "finished", done: 1, total: 2 }], "bulk: stopped"], "events/list": [[], "events: stopped"],
            "find": [[{ place: "queue", message_id: "m-1", causation_id: "c-1" }, { read: 7, is_complete: false, after: null }], "find: stopped"] };
        window.own = window.fetch; window.fetch = async (path, ...more) => {
            const [items, said] = answers[path.slice("/api/".length).split("?")[0]] ?? [];
            return items ? new Response(JSON.stringify({ items: window.none ? items.filter((item) => item.read) : items, notes: [said] }))
              : path.includes("saga/history?arg=Order") ? new Response('{"items":[],"notes":["history of o-1: stopped"]}')
              : path.includes("saga/history?arg=c-1") ? new Response('{"error":"history: stopped"}', { status: 503 }) : window.own(path, ...more); };""")
    for path, *texts in [("queue/show?arg=billing", "show: stopped", "peek: stopped"), ("why?arg=m-1", "why: stopped"),
                         ("saga/show?arg=Order/o-1", "saga: stopped", "history of o-1: stopped"), ("bulk/show?arg=b-1", "bulk: stopped"), ("find?where=id=m-1", "find: stopped"),
                         ("conversation?id=buyer-1", "events: stopped", "history: stopped", "The search of messages that wait stopped early")]:
        page.run("location.hash = arguments[0]", f"#/{path}")
        for text in texts:
            page.wait(".note.warn", text)
        must(not re.search("There is none|No history", page.text()), f"{path}: nothing is there, it says")
    page.run("window.none = true; location.hash = '#/conversation?id=buyer-2'")
    page.wait(".note.warn", "The search of messages that wait stopped early")
    must("There is none in the store" not in page.text(), "a conversation that was not searched has no message")
    page.run("window.fetch = window.own")


def mend(page, address):
    """One letter is edited and retried, two are chosen and discarded; all notes of a kind are retried at 50 a second."""
    page.go(f"{address}/#/dead?type=parcel")
    page.click("td a")
    page.click("button", "Edit")
    page.fill("#ask-body", '{"n":4711}')
    page.fill("#ask-reason", "the right number")
    page.click("button", "Retry with this body")
    page.wait(".note.good", "edited")
    settled = page.run("return location.href")
    page.go("about:blank")
    page.go(settled)
    page.wait("h2", "What operators did")
    must(not page.find("main button, main .row a"), "a letter that is settled can be settled")
    page.go(f"{address}/#/dead?type=charge")
    page.wait("caption", "shown")
    page.run("for (const box of [...document.querySelectorAll('tbody input')].slice(0, 2)) box.click()")
    page.wait("span", "2 selected")
    page.click("button", "Discard")
    page.fill("#ask-reason", "no use")
    page.click("dialog button", "Discard")
    page.wait(".note.good", '"discarded":2')
    page.wait("caption", "165 shown")
    page.run("window.own = window.fetch; window.fetch = (path, ...more) => path.includes('dead/discard')"
             " ? Promise.resolve(new Response('{\"items\":[{\"discarded\":0}],\"notes\":[]}')) : window.own(path, ...more);")
    page.run("document.querySelector('tbody input').click()")
    page.click("button", "Discard")
    page.click("dialog button", "Discard")
    page.wait(".note.warn", '"discarded":0')
    page.run("window.fetch = window.own")
    page.go(f"{address}/#/dead?type=note&newer=3000d&older=1s")
    page.wait("caption", "166 shown")
    page.run("""window.own = window.fetch; window.fetch = async (path, ...more) => {
        const answer = await window.own(path, ...more), { since, until } = (await answer.clone().json()).items?.[0] ?? {};
        if (path.includes("dry-run=true")) window.counted = [since, until, undefined, undefined];
        if (path.includes("bulk/start")) {
          const sent = JSON.parse(more[0].body);
          window.begun = [sent.since, sent.until, sent.newer, sent.older];
        }
        return answer; };""")
    page.click("button", "Retry all that match")
    page.wait("h2", "Retry 166 of dead letters (type note, newer 3000d, older 1s)")
    page.fill("#ask-rate", "8")
    page.fill("#ask-reason", "the bank is back")
    page.click("dialog button", "Retry")
    page.wait("h1", "Bulk action")
    must(page.run("return window.counted[1] && String(window.begun) === String(window.counted)"), "another selection begins than was counted")
    page.run("window.fetch = window.own")
    page.wait("h1", "Bulk action")
    page.wait("p", "open")
    page.run("""const own = window.fetch; window.fetch = (path, ...more) => path.includes("bulk/stop")
        ? Promise.resolve(new Response('{"error":"the store is busy"}', {status: 503})) : own(path, ...more);""")
    page.click("button", "Stop")
    page.click("dialog button", "Stop")
    page.wait(".note.bad", "the store is busy")
    page.run("setTimeout(() => document.body.append(Object.assign(document.createElement('i'), {id: 'redrawn'})), 2500)")
    page.wait("#redrawn")
    must(page.find(".note.bad"), "the failure of a stop is gone with the next look")


def raced(page, address):
    """Letters that somebody else has settled go from the list with the error; for a wrong value they stay chosen."""
    page.go(f"{address}/#/dead?type=note")
    page.wait("caption", "shown")
    page.run("""window.own = window.fetch; window.status = 400; window.fetch = (path, ...more) => path.includes("dead/discard")
          ? Promise.resolve(new Response('{"error":"it is gone"}', { status: window.status }))
          : path.includes("dead/list") ? Promise.resolve(new Response('{"items":[],"notes":[]}')) : window.own(path, ...more);
        document.querySelector("tbody input").click();""")
    for status, rest in [(400, "1 selected"), (404, "There is no dead letter")]:
        page.run("document.querySelector('.note.bad')?.remove(); window.status = arguments[0]", status)
        page.click("button", "Discard")
        page.click("dialog button", "Discard")
        page.wait(".note.bad", "it is gone")
        page.wait("main span, main p", rest)
    page.run("window.fetch = window.own")


def busy(page, address):
    """An action that takes long says so and is not begun twice; it leaves the page alone that the user has gone on to."""
    page.go(f"{address}/#/dead?type=note")
    page.wait("caption", "shown")
    page.run("""window.own = window.fetch; window.posts = 0; window.fetch = async (path, ...more) => {
        if (more[0]?.method !== "POST") return window.own(path, ...more);
        window.posts++;
        await new Promise((done) => { window.answer = done; });
        return new Response('{"error":"it is gone"}', { status: 404 }); };
        document.querySelector("tbody input").click();""")
    buttons = "return [...document.querySelectorAll('main button')].filter((one) => !one.matches(':disabled')).map((one) => one.textContent)"
    page.click("button", "Discard")
    page.click("dialog button", "Discard")
    page.wait(".note", "It runs.")
    must(page.run(buttons) == ["Filter"], f"it can be begun twice: {page.run(buttons)}")
    page.run("window.answer()")
    page.wait(".note.bad", "it is gone")
    page.wait("main fieldset:not([disabled]) button", "Select all shown")  # a further action can be begun
    page.run("document.querySelector('tbody input').click()")
    page.click("button", "Discard")
    page.click("dialog button", "Discard")
    for path, title, may in [("outbox", "Outbox", True), ("dead?type=note", "Dead letters", False)]:
        page.run("location.hash = arguments[0]", f"#/{path}")
        page.wait("main:not([aria-busy]) h1", title)
        page.wait(".note", "It runs.")
        must(("Select all shown" in page.run(buttons)) == may, f"{path}: can an action be begun? {page.run(buttons)}")
    page.run("window.answer()")
    page.wait(".note.bad", "it is gone")
    page.wait("main fieldset:not([disabled]) button", "Select all shown")  # also on a page that was drawn anew
    page.run("document.querySelector('tbody input').click()")
    page.click("button", "Discard")
    page.click("dialog button", "Discard")
    page.wait(".note", "It runs.")
    page.run("location.hash = '#/outbox'")
    page.wait("main:not([aria-busy]) h1", "Outbox")
    page.wait(".note", "It runs.")
    page.fill("input[name=type]", "typed")
    page.run("document.querySelector('tbody input').click(); window.answer()")
    page.wait(".note.bad", "it is gone")
    must(page.find("#said p", "Discard: "), "it does not say what failed")
    left = page.run("return [document.querySelector('input[name=type]').value, document.querySelectorAll('tbody input:checked').length, window.posts]")
    must(left == ["typed", 1, 3], f"the page is drawn anew, or something was sent twice: {left}")
    page.run("location.hash = '#/queue'")
    page.wait("main:not([aria-busy]) h1", "Queues")
    must(not page.find(".note.bad"), "what an action did stands above every page")
    page.run("""window.slow = window.fetch; window.row = { id: "b-1", state: "open", done: 1, total: 3 };
        window.fetch = async (path, ...more) => path.includes("bulk/show")
          ? new Response(JSON.stringify({ items: [window.row], notes: [] })) : window.slow(path, ...more);
        location.hash = "#/bulk/show?arg=b-1";""")
    page.click("button", "Stop")
    page.click("dialog button", "Stop")
    page.run("window.row.done = 2")
    page.wait("p", "2 of 3, open")
    must(page.run(buttons) == [], "a page that reads its row each second begins it twice")
    page.run("window.answer()")
    page.wait(".note.bad", "it is gone")
    must(page.run(buttons) == ["Stop"], "it cannot be stopped any more")
    page.run("window.fetch = window.own")


def uncounted(page, address):
    """Letters that cannot be counted in their time are chosen by the action that begins, with the filter as it is."""
    page.go(f"{address}/#/dead?type=note&newer=3000d")
    page.wait("caption", "shown")
    page.run("""window.own = window.fetch; window.fetch = async (path, ...more) => {
        if (path.includes("bulk/start")) await new Promise((done) => { window.counted = done; });
        if (path.includes("bulk/start")) window.begun = JSON.parse(more[0].body);
        return path.includes("dry-run=true") ? new Response('{"error":"it took too long"}', { status: window.status })
          : path.includes("bulk/start") ? new Response('{"error":"begun"}', { status: 503 }) : window.own(path, ...more); };
        window.status = 503;""")
    page.click("button", "Retry all that match")
    page.wait(".note.bad", "it took too long")
    page.run("window.status = 504")
    page.click("button", "Retry all that match")
    page.wait("h2", "Retry all of dead letters (type note, newer 3000d)")
    page.wait("dialog p", "could not be counted")
    page.fill("#ask-rate", "8")
    page.click("dialog button", "Retry")
    page.wait(".note", "They are counted; then it begins.")
    page.run("window.counted()")
    page.wait(".note.bad", "begun")
    sent = page.run("return window.begun")
    must(sent == {"verb": "dead", "action": "retry", "all": True, "type": "note", "newer": "3000d", "rate": "8"}, f"another selection begins: {sent}")
    page.run("window.fetch = window.own")


def mistaken(page, address):
    """Who asked for what cannot be answered sees why, and what he wrote; a value that is searched may have blanks."""
    page.go(f"{address}/#/bulk")
    page.wait("main:not([aria-busy]) h1", "Bulk actions")
    page.run("""window.own = window.fetch; window.fetch = async (path, ...more) => {
        window.asked = new URLSearchParams(path.split("?")[1]).getAll("arg");
        return path.startsWith("/api/") ? new Response('{"error":"it is wrong"}', { status: 400 }) : window.own(path, ...more); };""")
    for path, name, value in [("dead?newer=abc", "newer", "abc"), ("why?arg=m-77", "arg", "m-77"), ("conversation?id=c-1", "id", "c-1"),
                              ("find?where=name%3DJohn++Smith+++type%3Dx+", "where", "name=John  Smith   type=x ")]:
        page.run("location.hash = arguments[0]", f"#/{path}")
        page.wait(f'nav a[aria-current][href="#/{path.split("?")[0]}"]')
        page.wait("main:not([aria-busy]) .note.bad", "it is wrong")
        page.wait(f"main input[name={name}]")
        found = page.run("return document.querySelector(`main input[name=${arguments[0]}]`).value", name)
        must(found == value, f"{path}: the input has {found!r}")
    must(page.run("return window.asked") == ["name=John  Smith", "type=x"], f"other conditions: {page.run('return window.asked')}")
    page.run("window.fetch = window.own")


def copied(page, address):
    """A number of a row can be copied into a command; a count of rows is easy to read."""
    page.go(f"{address}/#/bulk")
    page.wait("main:not([aria-busy]) h1", "Bulk actions")
    page.run("""window.own = window.fetch; window.fetch = async (path, ...more) => {
        const row = path.includes("worker/") ? { id: "w-1", pid: 27095 } : path.includes("queue/list") ? { queue: "billing", ready: 27095 } : null;
        return row ? new Response(JSON.stringify({ items: [row], notes: [] })) : window.own(path, ...more); };""")
    for path, selector, text in [("worker", "td", "27095"), ("worker/show?arg=w-1", "dd", "27095"), ("queue", "td", "27,095")]:
        page.run("location.hash = arguments[0]", f"#/{path}")
        page.wait(f"main:not([aria-busy]) {selector}", text)
    page.run("window.fetch = window.own")


def lost(page, address):
    """The page of a bulk action goes on when the store is back."""
    page.go(f"{address}/#/bulk")
    page.wait("main:not([aria-busy]) h1", "Bulk actions")
    page.run("""window.own = window.fetch; window.row = { id: "b-1", state: "open", done: 1, total: 3 };
        window.fetch = async (path, ...more) => !path.includes("bulk/show") ? window.own(path, ...more)
          : window.row ? new Response(JSON.stringify({ items: [window.row], notes: [] }))
          : new Response('{"error":"the store is away"}', { status: 503 });
        location.hash = "#/bulk/show?arg=b-1";""")
    page.wait("p", "1 of 3, open")
    page.run("window.row = null")
    page.wait(".note.bad", "the store is away")
    page.run("window.row = { id: 'b-1', state: 'finished', done: 3, total: 3 }")
    page.wait("p", "3 of 3, finished")
    must(not page.find(".note.bad"), "the store is still away")
    page.run("window.fetch = window.own")


def come_back(page, address):
    """The action that another browser began is there, and finished."""
    page.go(f"{address}/#/bulk")
    page.click("td a")
    page.wait("p", "166 of 166, finished")


def flow(page, address):
    """The example, of which buyer-1 has paid and shipped, and o-11 waits: each picture has what the program declares or did."""
    page.go(f"{address}/#/topology")
    page.wait(".flow svg text", "queue billing")
    page.wait(".flow svg text", "saga OrderSaga")
    page.wait(".flow svg text", "to itself: ship_item, order_shipped")
    see_circles(page)
    see_arrows(page)
    page.go(f"{address}/#/find?where=order_id=o-11&piece=0s")  # 16 messages in a piece
    page.wait("p", "; everything was searched.")
    must(len(page.find("tbody tr")) == 1, "a search in pieces does not find its message once")
    page.go(f"{address}/#/conversation?id=buyer-1&piece=0s")
    for text in ("place_order", "charge_card", "payment_taken", "ship_item", "shipping/north", "shipment"):
        page.wait(".flow svg a text", text)
    page.wait(".flow svg a text", "handled by orders in ")
    must(page.find(".flow rect.waits") and page.find(".flow rect.done"), "nothing waits, or nothing is done")
    must(len(page.find(".flow svg path")) == 4, "messages without their causes")
    page.go(f"{address}/#/saga")
    page.click("td a", "OrderSaga/o-11")
    page.wait("h2", "What may come next")
    page.wait("li", "payment_taken")
    page.wait("li", "timeout payment")
    page.wait("ol.line", "place_order")
    page.go(f"{address}/#/saga?limit=1")
    page.click("a", "Next page")
    page.wait("main:not([aria-busy]) .note, main:not([aria-busy]) td")
    must("after=" in page.run("return location.hash") and not page.find(FAILURE), f"no next page of sagas: {page.text()[:400]}")
    page.go(f"{address}/#/audit")
    page.wait("td a", "queue_paused")
    page.wait("td", "the bank is down")
    page.click("td a", "queue_paused")
    page.wait("dd", "pawl.queue_paused")


# Lists, and one thing of each kind that has a page of its own.
SEEN = {name: name for name in PAGES} | {
    "conversation": "conversation?id=buyer-1", "find": "find?where=order_id=o-11", "why": "why?arg=m-11",
    "dead_letter": "dead/show?endpoint=billing&reveal=true&arg=", "saga_o-11": "saga/show?arg=OrderSaga/o-11",
    "queue_billing": "queue/show?arg=billing"}


def each_page(page, address):
    page.go(f"{address}/#/dead")
    letter = page.run("return document.querySelector('td a').textContent") if page.wait("td a") else ""
    for is_dark in (False, True):
        page.dark(is_dark)
        for name, path in SEEN.items():
            page.go(f"{address}/#/{path}{letter if name == 'dead_letter' else ''}")
            page.wait("main:not([aria-busy]) h1")
            if name == "trouble":
                page.wait(".card svg")
            yield name, is_dark


def pictures(page, address, folder):
    page.size(1060, 760)
    for name, is_dark in each_page(page, address):
        page.picture(f"{folder}/{name}-{'dark' if is_dark else 'light'}.webp")


def axe(page, address, script):
    """No page and no dialog violates a rule of axe-core, whose file is `script`."""
    with open(script, encoding="utf-8") as file:
        rules = file.read()

    def check(what):
        page.run(rules + "\nwindow.axe = axe;")
        found = page.later("""const found = await axe.run(); return found.violations.map((one) =>
            [one.id, one.help, one.nodes.map((node) => node.html.slice(0, 200)).slice(0, 3)]);""")
        must(not found, f"{what}: {found}")
        must(isinstance(found, list), f"{what}: no result")

    for name, is_dark in each_page(page, address):
        check(f"{name}, {'dark' if is_dark else 'light'}")
    page.go(f"{address}/#/dead?type=note")
    page.wait("caption", "shown")
    page.click("button", "Retry all that match")
    page.wait("dialog h2")
    check("a dialog")


STORIES = {"pages": see_pages, "skipped": skipped, "trouble": see_trouble, "hostile": hostile, "hasty": hasty, "audit": audit, "paged": paged, "narrowed": narrowed, "grouped": grouped, "cut": cut, "named": named, "bytes_lost": bytes_lost, "as_stored": as_stored, "left_alone": left_alone, "stopped": stopped, "raced": raced, "busy": busy, "mistaken": mistaken, "copied": copied, "lost": lost, "uncounted": uncounted, "mend": mend, "come_back": come_back, "flow": flow,
           "pictures": pictures, "axe": axe}


def main():
    address, story = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder, browser.start(folder) as page:
        for name in story.split(","):
            page.go("about:blank")  # the next story loads all anew
            STORIES[name](page, address, *sys.argv[3:])
        complaints = [text for text in page.complaints() if "/api/saga/history?" not in text]  # 404: it has none
        must(not complaints, f"the browser complains: {complaints}")


try:
    main()
except browser.Failed as failure:
    sys.exit(f"{sys.argv[2]}: {failure}")
