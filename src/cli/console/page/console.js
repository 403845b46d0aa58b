// console.js - the page of `pawl console`, one client of its API.
//
// Whatever comes from the store is hostile input: it becomes text (textContent) and never HTML.
//
// SPDX-License-Identifier: Apache-2.0

const view = document.getElementById("view");
let about = { may_write: false };

// ---- Elements -------------------------------------------------------------------

function el(name, attributes, ...children) {
  const isPicture = ["svg", "path", "rect", "text", "title", "svg:a"].includes(name);
  const made = isPicture ? document.createElementNS("http://www.w3.org/2000/svg", name.replace("svg:", "")) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value != null) made.setAttribute(key, value);
  }
  for (const child of children.flat(Infinity)) if (child != null && child !== false) made.append(child);
  return made;
}

const button = (text, onclick, more) => el("button", { type: "button", onclick, ...more }, text);
const link = (text, hash) => el("a", { href: hash }, text);
const hash = (path, query) => {
  const words = new URLSearchParams(Object.entries(query ?? {}).filter(([, value]) => value != null && value !== ""));
  return `#/${path}${words.size ? `?${words}` : ""}`;
};

// ---- The API --------------------------------------------------------------------

async function ask(path, options) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Error("the console does not answer");
  }
  const text = await answer.text();
  let read = null;
  try { read = JSON.parse(text); } catch { /* told below */ }
  if (!answer.ok || read == null)
    throw Object.assign(new Error(read?.error ?? `the console answers with status ${answer.status}`), { status: answer.status });
  return read;
}

function get(path, query) {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {}))
    for (const one of [value].flat()) if (one != null && one !== "") words.append(name, one);
  return ask(`/api/${path}${words.size ? `?${words}` : ""}`);
}

const post = (path, body) => ask(`/api/${path}`, {
  method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json", "X-Pawl-Console": "1" } });

// ---- Values ---------------------------------------------------------------------

const isTime = (value) => typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:[\d.]+Z$/.test(value);

function age(text) {
  const seconds = (Date.now() - Date.parse(text)) / 1000, size = Math.abs(seconds);
  const [count, unit] = size < 90 ? [size, "s"] : size < 5400 ? [size / 60, "min"] : size < 129600 ? [size / 3600, "h"]
    : [size / 86400, "d"];
  return seconds >= 0 ? `${Math.round(count)} ${unit} ago` : `in ${Math.round(count)} ${unit}`;
}

const number = (value) => value.toLocaleString("en");
// Counting of rows stops at a limit, which is in the statistics: "+" shows that there are more.
const rowsOf = (value) => number(value) + (value >= (live.stats?.count_max ?? Infinity) ? "+" : "");

// A value of a row. Numbers are as the command takes them: many are ids and positions.
function shown(value) {
  if (value == null) return "";
  if (isTime(value)) return el("time", { datetime: value, title: value }, age(value));
  if (Array.isArray(value)) return value.every((item) => typeof item !== "object") ? value.join(", ") : json(value);
  return typeof value === "object" ? json(value) : String(value);
}

const json = (value) => el("pre", { tabindex: "0" }, JSON.stringify(value, null, 2));

const depthMax = 40; // deeper lines are not indented further

// A body as indented JSON. Its text is parted and not read: numbers stay as they are written, and names that are there twice.
function bodyOf(text) {
  let depth = 0, parted = text;
  const line = () => `\n${"  ".repeat(Math.min(depth, depthMax))}`;
  try {
    JSON.parse(text);
    parted = text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|\s+|[{[]\s*[}\]]|[{}[\],:]/g, (token) => {
      if (token.startsWith('"')) return token;
      if (token === "{" || token === "[") return depth++, token + line();
      if (token === "}" || token === "]") return depth--, line() + token;
      return token === "," ? token + line() : token === ":" ? ": " : token.replace(/\s+/g, "");
    });
  } catch { /* no JSON: as it is */ }
  return el("pre", { tabindex: "0" }, parted);
}

// ---- Dialogs ----------------------------------------------------------------------

// Asks with a few fields: {name, label, value, type}. Answers the values, or null.
function prompt(title, text, fields, done) {
  const dialog = document.getElementById("ask");
  return new Promise((resolve) => {
    const inputs = fields.map((field) => el(field.type === "body" ? "textarea" : "input",
      { type: field.type === "body" ? null : "text", name: field.name, id: `ask-${field.name}`, spellcheck: "false" }));
    inputs.forEach((input, i) => { input.value = fields[i].value ?? ""; });
    const end = (values) => { dialog.close(); dialog.replaceChildren(); resolve(values); };
    const form = el("form", { method: "dialog", onsubmit: (event) => {
      event.preventDefault();
      end(Object.fromEntries(inputs.map((input) => [input.name, input.value])));
    } },
    el("h2", { id: "ask-title" }, title), el("p", null, text),
    fields.map((field, i) => el("p", null, el("label", { for: `ask-${field.name}` }, field.label), inputs[i])),
    el("div", { class: "row" }, el("button", { class: "main", type: "submit" }, done), button("Cancel", () => end(null))));
    dialog.oncancel = (event) => { event.preventDefault(); end(null); };
    dialog.replaceChildren(form);
    dialog.showModal();
  });
}

const note = (kind, ...children) => el("div", { class: `note ${kind}`, role: kind === "bad" ? "alert" : "status" }, children);
// Did an action change rows? The first number of an item is how many; items without a number count as done.
const isDone = (one) => one.items.length > 0 && one.items.every((item) => Object.values(item).find((value) => typeof value === "number") !== 0);
const outcome = (answers) => note(answers.every(isDone) ? "good" : "warn", answers.flatMap((one) =>
  [...one.items.map((item) => JSON.stringify(item)), ...one.notes]).map((text) => el("p", null, text)));
const failure = (error) => note("bad", el("p", null, error.message));
// These parts of a page stay above the error, so that the user can ask again.
const under = (...head) => (error) => { throw Object.assign(error, { head }); };
// Lines of the command for people, such as why it stopped before it had read all rows.
const notesOf = (notes) => notes.length ? note("warn", notes.map((text) => el("p", null, text))) : "";

// What actions did stands above the page: it is still there when the page is drawn anew, and goes with the next page.
const said = document.getElementById("said");
const forget = () => { for (const one of said.querySelectorAll(":scope > :not([data-runs])")) one.remove(); };

// Does an action of this page run? Its filters do not count.
const here = () => location.hash.split("?")[0];
const isRunning = () => [...said.querySelectorAll("[data-runs]")].some((one) => one.dataset.runs === here());
const bar = (...children) => el("fieldset", { class: "row", "aria-label": "Actions", disabled: isRunning() }, children);
const updateBars = () => { for (const one of view.querySelectorAll("fieldset")) one.disabled = isRunning(); };

// Runs an action. Meanwhile this is said, also above the next page, and the buttons of the page are off, also when it is drawn anew.
async function perform(what, work) {
  const focused = document.activeElement, place = el("div", { "data-runs": here() });
  const say = (...nodes) => place.replaceChildren(...nodes.length ? [el("p", null, what), ...nodes] : []);
  forget();
  said.append(place);
  say(note("", el("p", null, "It runs.")));
  updateBars();
  try {
    await work(say);
  } catch (error) {
    say(failure(error));
  }
  place.removeAttribute("data-runs");
  updateBars();
  if (document.activeElement === document.body) focused.focus();
}

// ---- Live figures -------------------------------------------------------------------

// doctor is undefined before the first answer, and null if it failed.
const live = { stats: null, doctor: undefined, points: [], source: null, isPaused: false, isLost: false, changed: () => {} };

function takeStats(stats) {
  live.stats = stats;
  live.isSilent = !stats;
  if (!stats) return;
  const at = Date.parse(stats.at), last = live.points.at(-1)?.at ?? 0; // the same figures may come twice
  if (at < last) live.points = []; // somebody set the clock
  if (at !== last) live.points.push({ at, stats });
  if (live.points.length > 120) live.points.shift();
}

function listen() {
  const wanted = !live.isPaused && !document.hidden;
  if (!wanted && live.source) {
    live.source.close();
    live.source = null;
  }
  if (wanted && !live.source) {
    live.source = new EventSource("/api/live");
    live.source.addEventListener("stats", (event) => { takeStats(JSON.parse(event.data)?.[0] ?? null); tell(); });
    live.source.addEventListener("doctor", (event) => { live.doctor = JSON.parse(event.data); tell(); });
    live.source.onerror = () => {
      if (live.source?.readyState === EventSource.CLOSED) { // refused: a browser does not try again by itself
        live.source = null;
        setTimeout(listen, 5000);
      }
      live.isLost = true;
      tell();
    };
    live.source.onopen = () => { live.isLost = false; tell(); };
  }
  tell();
}

function tell() {
  const text = live.isPaused ? "paused" : live.isLost ? "no connection" : live.stats?.health ?? (live.isSilent ? "the store does not answer" : "waiting");
  const place = document.getElementById("live");
  if (place.textContent !== text) place.textContent = text;
  live.changed();
}

const pause = document.getElementById("pause");
pause.addEventListener("click", () => {
  live.isPaused = !live.isPaused;
  pause.setAttribute("aria-pressed", String(live.isPaused));
  pause.textContent = live.isPaused ? "Go on" : "Pause";
  listen();
});
document.addEventListener("visibilitychange", listen);

// ---- Trouble ------------------------------------------------------------------------

const levels = { ok: "good", warn: "warn", fail: "bad", healthy: "good", degraded: "warn", unhealthy: "bad" };
const kindOf = (level) => levels[level] ?? "warn";

function finding(item) {
  return note(kindOf(item.level), el("p", null, el("span", { class: "level" }, `${item.level} ${item.check}`), ` ${item.text}`),
    item.remedy ? el("p", null, "Remedy: ", el("code", null, item.remedy)) : null);
}

function spark(values, label) {
  const most = Math.max(1e-9, ...values), step = 100 / Math.max(1, values.length - 1);
  const line = values.map((value, i) => `${i ? "L" : "M"}${(i * step).toFixed(1)} ${(30 - 28 * value / most).toFixed(1)}`);
  return el("svg", { viewBox: "0 0 100 32", preserveAspectRatio: "none", role: "img", "aria-label": label },
    el("path", { d: line.join("") }));
}

function card(name, text, values) {
  return el("div", { class: "card" }, el("p", { class: "name" }, name), el("p", { class: "figure" }, text),
    values?.length > 1 ? spark(values, `${name} in the last minutes`) : null);
}

// How much a counter grew in a second, between each two points.
const rates = (key) => live.points.slice(1).map((point, i) => {
  const before = live.points[i], seconds = (point.at - before.at) / 1000;
  return Math.max(0, (point.stats[key] - before.stats[key]) / Math.max(seconds, 0.001));
});

function figures(stats) {
  const rate = (name, key) => {
    const values = rates(key);
    return card(name, values.length ? number(Math.round(values.at(-1) * 10) / 10) : "...", values);
  };
  const level = (name, key) => card(name, rowsOf(stats[key]), live.points.map((point) => point.stats[key]));
  const ready = (point) => point.stats.queues.reduce((sum, queue) => sum + queue.ready, 0);
  return [rate("Messages a second", "messages"), rate("Failures a second", "failures"),
    card("Ready in queues", rowsOf(ready({ stats })), live.points.map(ready)), level("Dead letters", "dead"),
    rate("Timeouts a second", "timeouts"), level("Timeouts due", "timeouts_due"), level("Outbox, pending", "outbox_pending"),
    level("Outbox, dead", "outbox_dead"), level("Aggregator rows", "aggregator_rows"), level("Workers", "workers")];
}

function troublePage() {
  const findings = el("section", { "aria-label": "Findings" }), now = el("div", { class: "cards" });
  let before = "";
  live.changed = () => {
    const checks = live.isLost ? [] : (live.stats?.checks ?? []).filter((check) => check.status !== "healthy")
      .map((check) => ({ level: check.status, check: check.name, text: check.reason }));
    const found = live.isLost ? [{ level: "fail", check: "console", text: "does not answer: what is wrong now is not known" }]
      : live.doctor === null ? [{ level: "fail", check: "doctor", text: "did not answer: pawl doctor in a terminal says why" }]
      : (live.doctor ?? []).filter((item) => item.level !== "ok");
    const text = JSON.stringify([checks, found, !live.doctor]);
    if (text !== before) {
      before = text;
      const worst = (item) => ["bad", "warn", "good"].indexOf(kindOf(item.level));
      const all = [...found, ...checks].sort((left, right) => worst(left) - worst(right));
      findings.replaceChildren(...(all.length ? all.map(finding)
        : !live.doctor ? [note("", el("p", null, "Asking doctor ..."))]
          : [note("good", el("p", null, el("span", { class: "level" }, "Nothing is wrong."),
            ` ${live.doctor.length} checks of doctor and ${live.stats?.checks.length ?? 0} of health say so.`))]));
    }
    if (live.isLost) now.replaceChildren(note("bad", el("p", null, "The console does not answer.")));
    else if (live.stats) now.replaceChildren(...figures(live.stats));
    else if (live.isSilent) now.replaceChildren(note("bad", el("p", null, "The store does not answer.")));
  };
  view.replaceChildren(el("h1", null, "Trouble"), findings, el("h2", null, "Right now"), now);
  live.changed();
}

// ---- Lists --------------------------------------------------------------------------

// Paths, texts and actions for the list and the rows of each noun. `key` makes the arguments that name a row, `after` the
// position at which the next page begins.
const nouns = {
  dead: {
    title: "Dead letters", list: "dead/list", show: "dead/show", reveal: true, none: "There is no dead letter.",
    columns: ["message_id", "type", "endpoint", "at", "attempts", "code", "error"],
    filters: ["type", "code", "endpoint", "error", "newer", "older"], group: ["type", "code", "error"],
    key: (row) => ({ arg: row.message_id, endpoint: row.endpoint }),
    actions: [{ name: "retry", done: "Retry" }, { name: "discard", done: "Discard" }], edit: true, bulk: true,
  },
  queue: {
    title: "Queues", list: "queue/list", show: "queue/show", none: "There is no queue.",
    columns: ["queue", "ready", "scheduled", "oldest", "workers", "state", "dead"], key: (row) => ({ arg: row.queue }),
    actions: [{ name: "pause", done: "Pause" }, { name: "resume", done: "Resume" }], filters: [], peek: true,
  },
  worker: {
    title: "Workers", list: "worker/list", show: "worker/show", none: "No worker is alive.",
    columns: ["id", "endpoint", "program", "program_version", "host", "pid", "leads", "messages", "failures", "dead", "seen"],
    filters: ["endpoint"], key: (row) => ({ arg: row.id }), actions: [],
  },
  outbox: {
    title: "Outbox", list: "outbox/list", show: "outbox/show", reveal: true, after: (row) => row.id, none: "There is no such row.",
    columns: ["id", "state", "destination", "source", "type", "message_id", "attempts", "at", "due"],
    filters: ["state", "destination", "type", "source"], key: (row) => ({ arg: row.id }),
    actions: [{ name: "retry", done: "Retry" }, { name: "discard", done: "Discard" }],
  },
  timeout: {
    title: "Timeouts", list: "timeout/list", show: "timeout/show", none: "There is no timeout.",
    columns: ["id", "due", "name", "saga_type", "saga_id", "destination", "attempts"],
    filters: ["name", "destination", "saga-type"], key: (row) => ({ arg: row.id }),
    actions: [{ name: "run-now", done: "Run now" }, { name: "cancel", done: "Cancel" },
      { name: "move", done: "Move", fields: [{ name: "by", label: "Later by (15m 2h 2d)" }] }],
  },
  schedule: {
    title: "Schedules", list: "schedule/list", show: "schedule/show", reveal: true, none: "There is no schedule.",
    columns: ["id", "plan", "type", "state", "next", "missed", "changed_by"], filters: [], key: (row) => ({ arg: row.id }),
    actions: [{ name: "run", done: "Run now" }, { name: "pause", done: "Pause" }, { name: "resume", done: "Resume" }],
  },
  projection: {
    title: "Projections", list: "projection/list", show: "projection/show", none: "There is no projection.",
    columns: ["projection", "state", "position", "lag", "worker", "attempts", "error"], filters: [],
    key: (row) => ({ arg: row.projection }), actions: [{ name: "restart", done: "Restart" }],
  },
  aggregator: {
    title: "Aggregators", list: "aggregator/list", show: "aggregator/show", none: "No aggregator has rows.",
    columns: ["partition", "aggregator", "state", "rows", "size", "oldest", "due", "attempts", "error"], filters: [],
    key: (row) => ({ arg: row.partition }), actions: [{ name: "run-now", done: "Flush now" }],
  },
  saga: {
    title: "Sagas", list: "saga/list", show: "saga/show", after: (row) => `${row.table}/${row.id}`, needsApp: true, none: "There is no such saga.",
    columns: ["saga", "type", "id", "version", "begun", "state_size"], filters: ["type"],
    key: (row) => ({ arg: `${row.type}/${row.id}` }), actions: [],
  },
  bulk: {
    title: "Bulk actions", list: "bulk/list", show: "bulk/show", none: "There is no bulk action.",
    columns: ["id", "state", "done", "total", "command", "started", "by", "reason"], filters: [], key: (row) => ({ arg: row.id }), actions: [],
  },
  events: {
    title: "Events", list: "events/list", show: "events/show", reveal: true, after: (row, query) => query.stream ? row.version : row.seq, none: "There is no such event.",
    columns: ["seq", "at", "stream", "version", "type", "message_id", "correlation_id"], fixed: { backward: "true" },
    filters: ["stream", "type", "message-id", "correlation-id"], key: (row) => ({ arg: [row.stream, row.version] }),
    actions: [],
  },
};

nouns.audit = {
  ...nouns.events, title: "Audit trail", none: "No operator has changed anything.", fixed: { operators: "true" },
  columns: ["action", "stream", "at", "by", "reason"], filters: [],
};

const showHash = (noun, row) => {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(nouns[noun].key(row))) for (const one of [value].flat()) words.append(name, one);
  return `#/${noun}/show?${words}`;
};

function table(noun, rows, chosen) {
  const it = nouns[noun];
  const isNumber = (name) => rows.some((row) => typeof row[name] === "number");
  const head = it.columns.map((name) => el("th", { scope: "col", class: isNumber(name) ? "number" : null }, name.replaceAll("_", " ")));
  const cell = (row, name, i) => el("td", { class: isNumber(name) ? "number" : null },
    i === 0 ? link(String(row[name]), showHash(noun, row))
    : typeof row[name] === "number" && noun === "queue" ? rowsOf(row[name]) : shown(row[name]));
  const box = (row) => {
    const made = el("input", { type: "checkbox", "aria-label": `Select ${row[it.columns[0]]}` });
    made.checked = chosen.has(row);
    made.addEventListener("change", () => { made.checked ? chosen.set(row, made) : chosen.delete(row); chosen.changed(); });
    chosen.boxes.set(row, made);
    return el("td", null, made);
  };
  return el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": it.title }, el("table", null,
    el("caption", null, `${number(rows.length)} shown`),
    el("thead", null, el("tr", null, chosen ? el("td", null, el("span", { class: "faint" }, "")) : null, head)),
    el("tbody", null, rows.map((row) => el("tr", null, chosen ? box(row) : null, it.columns.map((name, i) => cell(row, name, i)))))));
}

// A filter of the address that the list has no input for, such as the saga of a link, gets one.
function filterForm(noun, query) {
  const it = nouns[noun];
  const names = [...new Set([...it.filters, ...Object.keys(query)])].filter((name) => !["after", "limit"].includes(name));
  if (!names.length) return null;
  const inputs = names.map((name) => el("input", { type: "text", name, value: query[name] ?? "", spellcheck: "false" }));
  return el("form", { class: "row", role: "search", onsubmit: (event) => {
    event.preventDefault();
    location.hash = hash(noun, { limit: query.limit, ...Object.fromEntries(inputs.map((input) => [input.name, input.value])) });
  } }, inputs.map((input) => el("label", null, input.name, input)), el("button", { type: "submit" }, "Filter"));
}

// Groups of dead letters with the same type, code and error, the largest first; each links to its rows. The filter finds an error
// also as a part of a longer one, and cannot ask for a missing value: the card says how many more rows the link shows.
function groupsOf(noun, rows, query) {
  const it = nouns[noun], groups = new Map();
  for (const row of rows) {
    const key = JSON.stringify(it.group.map((name) => row[name]));
    groups.set(key, (groups.get(key) ?? 0) + 1);
  }
  if (groups.size < 2 && rows.length > 0 && it.group.every((name) => query[name])) return null;
  const sorted = [...groups].sort((left, right) => right[1] - left[1]);
  return el("div", { class: "cards" }, sorted.slice(0, 12).map(([key, count]) => {
    const values = JSON.parse(key);
    const filter = Object.fromEntries(it.group.map((name, i) => [name, values[i]]));
    const more = rows.filter((row) => it.group.every((name) => !filter[name] || row[name] === filter[name] ||
      (name === "error" && row.error?.includes(filter.error)))).length - count;
    return el("div", { class: "card" }, el("p", { class: "figure" }, number(count)),
      el("p", null, link(`${values[0] || "no type"}, ${values[1] || "no code"}`, hash(noun, { ...query, ...filter }))),
      el("p", { class: "name" }, values[2] || "no error"), more ? el("p", { class: "faint" }, `The link shows ${number(more)} more.`) : null);
  }));
}

// Runs an action for the rows, and shows the counts and notes of the command.
async function act(noun, action, rows) {
  const mine = turn, it = nouns[noun], many = `${number(rows.length)} of ${it.title.toLowerCase()}`;
  const title = `${action.done}: ${rows.length === 1 ? [it.key(rows[0]).arg].flat().join(" ") : many}`;
  const values = await prompt(title, "It is on record with your name and the reason.",
    [...(action.fields ?? []), { name: "reason", label: "Reason" }], action.done);
  if (!values) return;
  const byEndpoint = new Map();
  for (const row of rows) {
    const { arg, ...rest } = it.key(row), key = JSON.stringify(rest);
    byEndpoint.set(key, [...(byEndpoint.get(key) ?? []), ...[arg].flat()]);
  }
  await perform(title, async (say) => {
    const done = [];
    let wrong = null;
    try {
      for (const [key, args] of byEndpoint) {
        const options = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
        const size = ["queue", "schedule", "projection", "aggregator"].includes(noun) ? 1 : 50;
        const parts = Array.from({ length: Math.ceil(args.length / size) }, (_, i) => args.slice(i * size, (i + 1) * size));
        for (const part of parts) done.push(await post(`${noun}/${action.name}`, { arg: part.map(String), ...JSON.parse(key), ...options }));
      }
    } catch (error) {
      wrong = error;
    }
    say(wrong ? failure(wrong) : "", done.length ? outcome(done) : "");
    const isRefused = wrong?.status === 400 && done.length === 0; // the rows stay selected
    if (mine === turn && !isRefused) await route();
  });
}

function actionBar(noun, chosen, rows, query) {
  const it = nouns[noun];
  const buttons = it.actions.map((action) => button(action.done, () => act(noun, action, [...chosen.keys()])));
  const all = button("Select all shown", () => {
    const isAll = chosen.size === rows.length;
    for (const row of rows) {
      const box = chosen.boxes.get(row);
      box.checked = !isAll;
      isAll ? chosen.delete(row) : chosen.set(row, box);
    }
    chosen.changed();
  });
  const count = el("span", { class: "faint", role: "status" });
  chosen.changed = () => {
    count.textContent = `${number(chosen.size)} selected`;
    for (const one of buttons) one.disabled = chosen.size === 0;
  };
  chosen.changed();
  const many = it.bulk ? it.actions.map((action) => button(`${action.done} all that match ...`, () => startBulk(noun, action, query))) : [];
  return bar(all, buttons, count, many);
}

// "All that match": a bulk action of the store, which goes on without this page.
async function startBulk(noun, action, query) {
  const mine = turn;
  const it = nouns[noun], filter = Object.fromEntries(Object.entries(query).filter(([name, value]) => value && name !== "limit" && name !== "after"));
  await perform(`${action.done} all that match`, async (say) => {
    say(note("", el("p", null, "They are counted.")));
    const counted = await get(`${noun}/${action.name}`, { ...filter, all: "true", "dry-run": "true" }).catch((error) => {
      if (error.status !== 504) throw error; // too many to be counted in its time
      return { items: [{}] };
    });
    say();
    if (mine !== turn) return;
    const { matching, since, until } = counted.items[0];
    const text = Object.entries(filter).map(([name, value]) => `${name} ${value}`).join(", ") || "no filter: all of them";
    const values = await prompt(`${action.done} ${matching == null ? "all" : number(matching)} of ${it.title.toLowerCase()} (${text})`,
      `${matching == null ? "They are so many that they could not be counted. " : ""}They are chosen now; those that come later stay. It goes on when you close this page.`,
      [{ name: "rate", label: "At most so many a second (empty: as fast as it can)", value: "50" }, { name: "reason", label: "Reason" }],
      action.done);
    if (!values) return;
    const options = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
    const { newer, older, ...fixed } = filter; // ages, which are the times `since` and `until` by the count's clock
    const chosen = matching == null ? filter : { ...fixed, ...(since ? { since } : {}), until };
    say(note("", el("p", null, "They are counted; then it begins.")));
    const done = await post("bulk/start", { verb: noun, action: action.name, all: true, ...chosen, ...options });
    if (done.items[0].id == null) return say(note("", el("p", null, "Nothing matches any more: nothing was begun.")));
    const begun = hash("bulk/show", { arg: done.items[0].id });
    say(note("good", el("p", null, "It has begun: ", link(done.items[0].id, begun))));
    if (mine === turn) location.hash = begun;
  });
}

async function stopBulk(id) {
  const mine = turn;
  const values = await prompt(`Stop ${id}`, "What was done stays.", [{ name: "reason", label: "Reason" }], "Stop");
  if (!values) return;
  await perform(`Stop ${id}`, async (say) => {
    await post("bulk/stop", { arg: id, ...(values.reason ? { reason: values.reason } : {}) });
    say();
    if (mine === turn) await route();
  });
}

// Reads the action again every second while it is open and the page is visible.
async function bulkPage(id) {
  const mine = turn;
  const answer = await get("bulk/show", { arg: id }), row = answer.items[0];
  if (mine !== turn) return;
  const lost = el("div"), progress = el("progress", { max: Math.max(1, row.total), value: row.done, "aria-label": "Progress" });
  view.replaceChildren(el("h1", null, `Bulk action ${id}`), el("p", { class: "row" }, progress, ` ${number(row.done)} of ${number(row.total)}, ${row.state}`),
    about.may_write && row.state === "open" ? bar(button("Stop", () => stopBulk(id))) : "", lost,
    notesOf(answer.notes), details(row), el("h2", null, "Its course"), timeline(row.actions ?? []));
  const again = async () => {
    if (mine !== turn) return;
    try {
      if (!document.hidden && !live.isPaused && !document.getElementById("ask").open) return await bulkPage(id);
    } catch (error) {
      if (mine === turn && lost.textContent !== error.message) lost.replaceChildren(failure(error));
    }
    setTimeout(again, 1000);
  };
  if (row.state === "open") setTimeout(again, 1000);
}

// Puts a page there, unless the user has gone on to another one while it was loaded.
function show(mine, ...nodes) {
  if (mine === turn) view.replaceChildren(...nodes);
}

async function listPage(noun, query) {
  const mine = turn;
  const it = nouns[noun];
  if (it.needsApp && !about.has_app) {
    show(mine, el("h1", null, it.title), note("warn", el("p", null, "The console knows no sagas: start it with --app APP.so.")));
    return;
  }
  const limit = query.limit ?? (it.group ? 500 : 100);
  const withLimit = ["dead", "outbox", "timeout", "saga", "aggregator", "events", "audit", "bulk"].includes(noun) ? { limit } : {};
  const head = [el("h1", null, it.title), filterForm(noun, query) ?? ""];
  const answer = await get(it.list, { ...it.fixed, ...withLimit, ...query }).catch(under(...head));
  const rows = answer.items, chosen = about.may_write && it.actions.length ? new Map() : null;
  if (chosen) chosen.boxes = new Map();
  const last = rows.at(-1);
  const older = answer.notes.map((text) => / older ones: --after (\d+)$/.exec(text)?.[1]).find(Boolean); // where a search stopped
  const more = older || (it.after && rows.length >= Number(limit))
    ? el("p", null, link(older ? "Older ones" : "Next page", hash(noun, { ...query, after: older ?? it.after(last, query) }))) : null;
  const cut = !it.after && withLimit.limit && rows.length >= Number(limit)
    ? note("warn", el("p", null, `Only the first ${number(rows.length)} are shown: filter them.`)) : null;
  show(mine, ...head, cut ?? "",
    it.group && rows.length ? groupsOf(noun, rows, query) ?? "" : "",
    notesOf(answer.notes) || (rows.length === 0 ? note("good", el("p", null, it.none)) : ""),
    chosen && rows.length ? actionBar(noun, chosen, rows, query) : "", rows.length ? table(noun, rows, chosen) : "",
    more ?? "");
}

// ---- One row ------------------------------------------------------------------------

const idLinks = {
  message_id: (row) => hash("why", { arg: row.message_id }), correlation_id: (row) => hash("conversation", { id: row.correlation_id }),
  causation_id: (row) => hash("why", { arg: row.causation_id }), original_message_id: (row) => hash("why", { arg: row.original_message_id }),
};

function details(row) {
  const list = el("dl");
  for (const [name, value] of Object.entries(row)) {
    if (["history", "actions", "timeouts", "body"].includes(name) || value == null) continue;
    const leads = idLinks[name]?.(row);
    list.append(el("dt", null, name.replaceAll("_", " ")), el("dd", null, leads ? link(String(value), leads) : shown(value),
      isTime(value) ? ` (${value})` : ""));
  }
  return list;
}

function timeline(items) {
  return el("ol", { class: "line" }, items.map((item) => {
    const at = item.at ?? item.due, { at: _, ...rest } = item;
    return el("li", { class: item.error || item.code ? "bad" : null }, at ? el("strong", null, `${at} `) : null,
      Object.entries(rest).filter(([, value]) => value != null && value !== "").map(([name, value]) =>
        el("div", null, el("span", { class: "faint" }, `${name.replaceAll("_", " ")}: `), shown(value))));
  }));
}

// Invalid UTF-8 is shown as U+FFFD; an edit would store that in its place.
async function editDead(row) {
  const isText = !row.body?.includes("\uFFFD");
  const values = await prompt(`Edit ${row.message_id}`, `The letter is retried with this body.${isText ? ""
    : " Bytes of it that are not UTF-8 are shown as \uFFFD and would be lost: `pawl dead edit --body-file` keeps them."}`,
    [{ name: "body", label: "Body", type: "body", value: row.body ?? "" }, { name: "reason", label: "Reason" }], "Retry with this body");
  if (!values) return;
  await perform(`Edit ${row.message_id}`, async (say) => say(outcome([await post("dead/edit", { arg: row.message_id, endpoint: row.endpoint,
    body: values.body, ...(values.reason ? { reason: values.reason } : {}) })])));
}

async function showPage(noun, words) {
  const mine = turn;
  const it = nouns[noun], args = words.getAll("arg"), isRevealed = words.get("reveal") === "true";
  const answer = await get(it.show, { arg: args, endpoint: words.get("endpoint"), reveal: isRevealed ? "true" : null });
  const row = answer.items[0] ?? {};
  const tools = bar(), isThere = it.key(row).arg != null; // a settled letter is gone: only its actions are known
  const again = new URLSearchParams(words);
  again.set("reveal", String(!isRevealed));
  if (it.reveal && isThere) tools.append(link(isRevealed ? "Hide the body" : "Show the body", `#/${noun}/show?${again}`));
  if (about.may_write && isThere) {
    for (const action of it.actions) tools.append(button(action.done, () => act(noun, action, [row])));
    if (it.edit) tools.append(button("Edit", async () => editDead(isRevealed ? row
      : (await get(it.show, { arg: args, endpoint: words.get("endpoint"), reveal: "true" })).items[0])));
  }
  const parts = [];
  if (row.body != null) parts.push(el("h2", null, "Body"), bodyOf(row.body));
  if (row.history?.length) parts.push(el("h2", null, "Attempts"), timeline(row.history));
  if (row.timeouts?.length) parts.push(el("h2", null, "Timeouts"), timeline(row.timeouts));
  if (row.actions?.length) parts.push(el("h2", null, "What operators did"), timeline(row.actions));
  if (noun === "saga") parts.push(links(row), ...await sagaNext(row), ...await sagaHistory(args[0]));
  if (it.peek) parts.push(...await peekOf(args[0]));
  show(mine, el("h1", null, `${it.title}: ${args.join(" ")}`), tools, notesOf(answer.notes), details(row), ...parts);
}

// Links to related rows.
const links = (row) => el("p", { class: "row" }, [["dead", "Its dead letters"], ["outbox", "Its outbox rows"], ["timeout", "Its timeouts"]]
  .map(([noun, text]) => link(text, hash(noun, { saga: `${row.type}/${row.id}` }))));

// The effects of the handlers of a message or a timeout, as the application's tables declare them.
async function sagaNext(row) {
  const answer = await get("topology/print");
  const isIt = (one) => one.kind === "saga" && one.name === row.type;
  const endpoint = answer.items[0]?.endpoints.find((one) => one.parts.some(isIt)), part = endpoint?.parts.find(isIt);
  const waiting = new Set((row.timeouts ?? []).map((timeout) => timeout.timeout));
  return part ? [el("h2", null, "What may come next"), el("ul", null, handlesOf(endpoint, part, (handle) =>
    !handle.timeout || waiting.has(handle.timeout)))] : [];
}

async function sagaHistory(saga) {
  try {
    const answer = await get("saga/history", { arg: saga });
    return [el("h2", null, "History"), notesOf(answer.notes), answer.items.length ? timeline(answer.items)
      : answer.notes.length ? "" : el("p", { class: "faint" }, "No history: the endpoint runs without --history.")];
  } catch (error) {
    return [el("h2", null, "History"), note("warn", el("p", null, error.message))];
  }
}

async function peekOf(queue) {
  const answer = await get("queue/peek", { arg: queue, limit: 50 });
  const columns = ["message_id", "type", "attempts", "due", "waits", "error"];
  return [el("h2", null, "Messages, in the order in which they are handled"), notesOf(answer.notes), answer.items.length === 0
    ? answer.notes.length ? "" : el("p", { class: "faint" }, "There is none.")
    : el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Messages" }, el("table", null,
      el("thead", null, el("tr", null, columns.map((name) => el("th", { scope: "col" }, name.replaceAll("_", " "))))),
      el("tbody", null, answer.items.map((row) => el("tr", null, columns.map((name, i) =>
        el("td", null, i === 0 ? link(row[name], hash("why", { arg: row[name] })) : shown(row[name]))))))))];
}

// ---- Find, why ------------------------------------------------------------------------

const pieceTime = "200ms", foundMax = 200;

// Searches in short requests, until all is read, enough is found, or another page is shown. `said` is called with the rows so far
// and the state of the search.
async function search(mine, { piece, ...query }, said) {
  const rows = [], sum = { read: 0, isStopped: false, notes: [] };
  for (let after = query.after; mine === turn && sum.end?.after !== null && rows.length < foundMax && !sum.isStopped;) {
    const answer = await get("find", { ...query, after, deadline: piece ?? pieceTime, limit: foundMax });
    sum.end = { after: null, read: 0, is_complete: false, ...answer.items.at(-1) };
    sum.notes = answer.notes;
    rows.push(...answer.items.slice(0, -1));
    sum.read += sum.end.read;
    after = sum.end.after;
    if (mine === turn) said(rows, sum);
  }
  return rows;
}

async function findPage(query, words) {
  const mine = turn;
  const input = el("input", { type: "text", name: "where", value: query.where ?? "", size: "40", spellcheck: "false" });
  const form = el("form", { class: "row", role: "search", onsubmit: (event) => {
    event.preventDefault();
    location.hash = hash("find", { where: input.value });
  } }, el("label", null, "Conditions: customer_id=4711 header:tenant=acme correlation=ID type=TYPE id=ID", input),
  el("button", { type: "submit", class: "main" }, "Find"));
  const head = [el("h1", null, "Find"), form], results = el("div"), columns = ["place", "message_id", "type", "queue", "endpoint", "at", "state", "error"];
  if (!query.where) return show(mine, ...head);
  const conditions = query.where.trim().split(/\s+(?=\S+=)/); // a value may have blanks
  await search(mine, { arg: conditions, after: words.get("after") ?? undefined, piece: query.piece }, (rows, sum) => {
    const goesOn = sum.end.after !== null && rows.length < foundMax && !sum.isStopped, done = sum.end.is_complete;
    const stop = () => { sum.isStopped = true; };
    results.replaceChildren(note(done || goesOn ? "" : "warn", el("p", null, `${number(rows.length)} found, ${number(sum.read)} messages read`,
      done ? "; everything was searched." : goesOn ? "; the search goes on. " : "; the search stopped early. ",
      goesOn ? el("button", { type: "button", onclick: stop }, "Stop")
        : sum.end.after ? link("Go on", hash("find", { where: query.where, after: sum.end.after })) : null)), goesOn ? "" : notesOf(sum.notes));
    if (rows.length) results.append(el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Found" }, el("table", null,
      el("thead", null, el("tr", null, columns.map((name) => el("th", { scope: "col" }, name.replaceAll("_", " "))))),
      el("tbody", null, rows.map((row) => el("tr", null, columns.map((name) => el("td", null,
        name === "message_id" ? link(row.message_id, hash("why", { arg: row.message_id })) : shown(row[name])))))))));
    if (!results.isConnected) show(mine, ...head, results);
  }).catch(under(...head, results));
}

async function whyPage(query) {
  const mine = turn;
  const input = el("input", { type: "text", name: "arg", value: query.arg ?? "", size: "40", spellcheck: "false" });
  const form = el("form", { class: "row", role: "search", onsubmit: (event) => {
    event.preventDefault();
    location.hash = hash("why", { arg: input.value.trim() });
  } }, el("label", null, "Id of a message, timeout, outbox row, saga; name of a projection or partition", input),
  el("button", { type: "submit", class: "main" }, "Why"));
  const head = [el("h1", null, "Why"), form], parts = [];
  if (query.arg) {
    const answer = await get("why", { arg: query.arg }).catch(under(...head));
    const letters = (await get("find", { arg: `id=${query.arg}`, in: "dead" }).catch(() => ({ items: [] }))).items.filter((one) => one.message_id);
    parts.push(notesOf(answer.notes), ...answer.items.map((item) => el("section", null, el("h2", null, `${item.place}: ${item.name ?? ""}`), details(item))),
      el("p", { class: "row" }, (letters.length ? letters : [{}]).map(({ endpoint }) => // of a settled one the actions are left
        link(`The same id in dead letters${endpoint ? ` of ${endpoint}` : ""}`, hash("dead/show", { arg: query.arg, endpoint })))));
  }
  show(mine, ...head, ...parts);
}

// ---- A conversation ---------------------------------------------------------------------

const rowHeight = 62, columnWidth = 250, historyMax = 40;

const micros = (value) => value < 1000 ? `${value} µs` : value < 1e6 ? `${(value / 1000).toFixed(1)} ms` : `${(value / 1e6).toFixed(1)} s`;

// Messages in the store and in the history: follows each message to its cause, to those that it sent, and to the others of its
// saga. Messages that a flush of an aggregator sent may belong to other conversations.
async function messagesOf(found, events, failures) {
  const nodes = new Map(), asked = new Set(), causes = new Map();
  for (const one of found)
    nodes.set(one.message_id, { id: one.message_id, cause: one.causation_id, type: one.type, at: one.at,
      kind: one.place === "dead" ? "dead" : "waits", text: `${one.place} ${one.queue ?? one.endpoint ?? ""}` });
  let next = [...found.map((one) => one.causation_id), ...events.flatMap((one) => [one.message_id, one.causation_id])];
  while (next.length && asked.size < historyMax) {
    const left = [...new Set(next)].filter((id) => id && !asked.has(id)), ids = left.slice(0, 4);
    next = left.slice(4);
    for (const id of ids) asked.add(id);
    const answers = await Promise.all(ids.map((id) => get("saga/history", { arg: id }).catch((error) => {
      if (error.status !== 404) failures.add(error.message); // 404: it has none
      return { items: [] };
    })));
    for (const line of answers.flatMap((answer) => answer.items)) {
      const before = nodes.get(line.message_id);
      if (!["waits", "dead"].includes(before?.kind)) // it is still in the store, as it failed and will be retried
        nodes.set(line.message_id, { ...before, id: line.message_id, type: line.type, at: line.at, kind: "done",
          text: `${line.outcome} by ${line.endpoint} in ${micros(line.duration)}` });
      if (line.source) next.push(line.source);
      for (const sent of line.out?.sends ?? []) {
        if (sent.id === line.message_id) continue; // it waits in an aggregator
        causes.set(sent.id, line.message_id);
        if (nodes.has(sent.id) || line.kind === "flush") continue;
        nodes.set(sent.id, { id: sent.id, type: sent.type, kind: "gone", text: `to ${sent.to}` });
        next.push(sent.id);
      }
    }
  }
  for (const node of nodes.values()) node.cause ??= causes.get(node.id);
  return [...nodes.values()];
}

// Each message under the one that caused it.
function flow(messages) {
  const byId = new Map(messages.map((message) => [message.id, message])), rows = [];
  const add = (message, x) => {
    if (rows.some((row) => row.message === message)) return;
    rows.push({ message, x, y: rows.length });
    for (const one of messages) if (one.cause === message.id && one !== message) add(one, x + 1);
  };
  messages.sort((left, right) => String(left.at ?? "~").localeCompare(String(right.at ?? "~")));
  for (const message of messages) if (!byId.has(message.cause)) add(message, 0);
  for (const message of messages) add(message, 0); // those whose causes form a circle
  const place = new Map(rows.map((row) => [row.message.id, row]));
  const width = columnWidth * (1 + Math.max(0, ...rows.map((row) => row.x))) + 20, height = rowHeight * rows.length + 10;
  const picture = el("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": "Flow of the messages" });
  for (const { message, x: column, y: row } of rows) {
    const cause = place.get(message.cause), x = 10 + column * columnWidth, y = 6 + row * rowHeight;
    if (cause && cause.message !== message)
      picture.append(el("path", { d: `M${30 + cause.x * columnWidth} ${54 + cause.y * rowHeight}V${y + 24}H${x}` }));
    picture.append(el("svg:a", { href: hash("why", { arg: message.id }) }, el("rect", { x, y, width: columnWidth - 30, height: 48, rx: 6,
      class: message.kind }), el("title", null, message.id),
    el("text", { x: x + 8, y: y + 19 }, String(message.type).slice(0, 30)),
    el("text", { x: x + 8, y: y + 37, class: "faint" }, message.text.slice(0, 36))));
  }
  return el("div", { class: "flow wide", tabindex: "0", role: "region", "aria-label": "Flow" }, picture);
}

async function conversationPage(query) {
  const mine = turn;
  const input = el("input", { type: "text", name: "id", value: query.id ?? "", size: "40", spellcheck: "false" });
  const form = el("form", { class: "row", role: "search", onsubmit: (event) => {
    event.preventDefault();
    location.hash = hash("conversation", { id: input.value.trim() });
  } }, el("label", null, "Correlation id", input), el("button", { type: "submit", class: "main" }, "Show"));
  const head = [el("h1", null, "A conversation"), form];
  if (!query.id) return show(mine, ...head);
  const { items: events, notes: said } = await get("events/list", { "correlation-id": query.id, limit: 200 }).catch(under(...head));
  const draw = async (found, failures, ...notes) => {
    const messages = await messagesOf(found, events, failures);
    show(mine, ...head, notesOf([...failures]), el("h2", null, "Messages"), ...notes, messages.length ? flow(messages)
      : failures.size ? "" : el("p", { class: "faint" }, "There is none in the store: a handled message leaves a line with --history only."),
    el("h2", null, "Events"), events.length ? timeline(events) : said.length ? "" : el("p", { class: "faint" }, "There is none."));
  };
  const count = el("p", null, "Messages that wait are searched."); // no index has them
  let first = null, end = {}; // drawn without them
  const found = await search(mine, { arg: `correlation=${query.id}`, piece: query.piece }, (rows, sum) => {
    count.textContent = `Messages that wait are searched: ${number(sum.read)} were read.`;
    end = sum.end;
    if (end.after !== null) first ??= draw(rows, new Set(said), note("", count));
  }).catch(under(...head));
  await first;
  await draw(found, new Set(end.is_complete ? said : [...said, "The search of messages that wait stopped early: some may be missing."]));
}

// ---- Topology ---------------------------------------------------------------------------

const routeTexts = (route) => route.leads_to === "outbound" ? ["an outbound transport of the application"]
  : [{ url: route.url, outbox: "through the outbox" }[route.leads_to], `queue ${route.queue}`].filter(Boolean);

// Where a message that is sent arrives, as `pawl topology print` has it: {kind, name, texts of a route out of the store}, or null for
// any destination.
function receiverOf(endpoint, does) {
  if (does.endpoint) return { kind: "endpoint", name: does.endpoint };
  if (does.queue) return { kind: "queue", name: does.queue };
  const route = (endpoint.routes ?? []).find((one) => one.name === does.destination);
  return route ? { kind: "route", name: route.name, texts: routeTexts(route) } : null;
}

function effectText(endpoint, does) {
  const receiver = does.kind === "send" ? receiverOf(endpoint, does) ?? { kind: "any", name: "destination" } : null;
  return ` → ${does.kind} ${does.message ?? does.timeout ?? ""}${receiver ? ` to ${receiver.kind} ${receiver.name}` : ""}`;
}

const handlesOf = (endpoint, part, isWanted = () => true) => (part.handles ?? []).filter(isWanted).map((handle) =>
  el("li", null, handle.message ?? `timeout ${handle.timeout}`, (handle.does ?? []).map((does) =>
    el("span", { class: "faint" }, effectText(endpoint, does)))));

// Endpoints, and the queues and routes that they send to: {name, title, lines, to: Map of a name to the messages that go there}.
function nodesOf(endpoints) {
  const nodes = new Map(), nameOf = ({ kind, name, texts }) => JSON.stringify([kind, name, texts]);
  const add = (receiver, isOwn, lines) => {
    const name = nameOf(receiver);
    if (!nodes.has(name)) nodes.set(name, { name, title: isOwn ? receiver.name : `${receiver.kind} ${receiver.name}`, isOwn, lines, to: new Map() });
    return nodes.get(name);
  };
  const own = endpoints.map(({ name, parts }) => add({ kind: "endpoint", name }, true, parts.map((part) => `${part.kind} ${part.name}`)));
  const takers = ({ message, bases }) => endpoints.filter((endpoint) => endpoint.parts.some((part) => part.kind !== "projection" &&
    (part.handles ?? []).some((handle) => [message, ...bases ?? []].includes(handle.message)))).map(({ name }) => ({ kind: "endpoint", name }));
  endpoints.forEach((endpoint, i) => {
    const effects = endpoint.parts.flatMap((part) => part.kind === "schedule" ? [{ kind: "send", message: part.message, endpoint: endpoint.name }]
      : (part.handles ?? []).flatMap((handle) => handle.does ?? []));
    for (const does of effects.filter(({ message }) => message))
      for (const receiver of does.kind === "send" ? [receiverOf(endpoint, does)].filter(Boolean) : takers(does)) {
        const { name } = add(receiver, false, receiver.texts ?? []), { to } = own[i];
        to.set(name, new Set([...(to.get(name) ?? []), does.message]));
      }
  });
  return nodes;
}

// Places each node one column right of the last node that sends to it. Messages that close a circle are ignored.
function setColumns(nodes) {
  const order = [], isSeen = new Set(), targets = new Set([...nodes.values()].flatMap((node) => [...node.to.keys()].filter((name) => name !== node.name)));
  const visit = (node) => {
    if (isSeen.has(node)) return;
    isSeen.add(node);
    for (const name of node.to.keys()) visit(nodes.get(name));
    order.unshift(node); // before all that it sends to, except those that lead to it
  };
  for (const node of nodes.values()) if (!targets.has(node.name)) visit(node);
  for (const node of nodes.values()) visit(node);
  const rank = new Map(order.map((node, i) => [node.name, i]));
  for (const node of order) {
    node.column ??= 0;
    for (const name of node.to.keys())
      if (rank.get(name) > rank.get(node.name)) nodes.get(name).column = Math.max(nodes.get(name).column ?? 0, node.column + 1);
  }
}

// Endpoints from left to right, in the direction in which messages go.
function map(endpoints) {
  const nodes = nodesOf(endpoints), lines = (node) => node.lines.length + (node.to.has(node.name) ? 1 : 0);
  setColumns(nodes);
  const tops = [], step = 420, boxWidth = 230;
  for (const node of nodes.values()) {
    node.x = 10 + node.column * step;
    node.y = tops[node.column] ?? 10;
    node.height = 32 + 18 * lines(node);
    tops[node.column] = node.y + node.height + 34;
  }
  const width = Math.max(...[...nodes.values()].map((node) => node.x)) + boxWidth + 20, height = Math.max(...tops.filter(Boolean)) + 10;
  const picture = el("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": "Which endpoint sends what to which" });
  for (const node of nodes.values()) {
    [...node.to].filter(([name]) => name !== node.name).forEach(([name, messages], i) => {
      const to = nodes.get(name), x = node.x + boxWidth, y = node.y + 16 + 18 * i, end = to.y + 16;
      const turnAt = to.column > node.column ? (x + to.x) / 2 : x + 60, label = [...messages];
      picture.append(el("path", { d: `M${x} ${y}C${turnAt} ${y} ${to.column > node.column ? turnAt : to.x - 60} ${end} ${to.x - 7} ${end}` }),
        el("path", { class: "tip", d: `M${to.x} ${end}l-8 -4v8z` }),
        el("text", { x: x + 10, y: y - 4, class: "faint" }, label.slice(0, 2).join(", ") + (label.length > 2 ? ` and ${label.length - 2} more` : "")));
    });
    picture.append(el("rect", { x: node.x, y: node.y, width: boxWidth, height: node.height, rx: 6, class: node.isOwn ? "done" : "gone" }),
      el("text", { x: node.x + 10, y: node.y + 20 }, node.title),
      ...[...node.lines,
        ...node.to.has(node.name) ? [`to itself: ${[...node.to.get(node.name)].join(", ")}`] : []].map((text, i) =>
        el("text", { x: node.x + 10, y: node.y + 40 + 18 * i, class: "faint" }, text.slice(0, 36))));
  }
  return el("div", { class: "flow wide", tabindex: "0", role: "region", "aria-label": "Picture" }, picture);
}

async function topologyPage() {
  const mine = turn;
  if (!about.has_app) {
    show(mine, el("h1", null, "Topology"), note("warn", el("p", null, "The console knows no application: start it with --app APP.so.")));
    return;
  }
  const it = (await get("topology/print")).items[0];
  show(mine, el("h1", null, `Topology of ${it.application}`), map(it.endpoints), ...it.endpoints.map((endpoint) =>
    el("section", null, el("h2", null, `${endpoint.name} (queue ${endpoint.queue})`), el("ul", null,
      (endpoint.routes ?? []).map((route) => el("li", null, el("strong", null, `route ${route.name}`), ` ${routeTexts(route).join(", ")}`)), endpoint.parts.map((part) =>
      el("li", null, el("strong", null, `${part.kind} ${part.name}`), el("ul", null, handlesOf(endpoint, part))))))));
}

// ---- Pages ------------------------------------------------------------------------------

const pages = [["trouble", "Trouble"], ["dead", "Dead letters"], ["bulk", "Bulk actions"], ["find", "Find"], ["why", "Why"], ["saga", "Sagas"],
  ["conversation", "Conversation"], ["queue", "Queues"], ["worker", "Workers"], ["outbox", "Outbox"], ["timeout", "Timeouts"],
  ["schedule", "Schedules"], ["projection", "Projections"], ["aggregator", "Aggregators"], ["events", "Events"], ["audit", "Audit trail"], ["topology", "Topology"]];

let turn = 0;

async function route() {
  const [path, text] = (location.hash.slice(2) || "trouble").split(/\?(.*)/s);
  const words = new URLSearchParams(text ?? ""), query = Object.fromEntries(words), [page, action] = path.split("/");
  const mine = ++turn;
  live.changed = () => {};
  document.getElementById("nav").replaceChildren(...pages.map(([name, title]) =>
    el("a", { href: `#/${name}`, "aria-current": name === page ? "page" : null }, title)));
  document.title = `pawl: ${pages.find(([name]) => name === page)?.[1] ?? page}`;
  view.setAttribute("aria-busy", "true");
  try {
    if (page === "trouble") troublePage();
    else if (page === "find") await findPage(query, words);
    else if (page === "why") await whyPage(query);
    else if (page === "conversation") await conversationPage(query);
    else if (page === "topology") await topologyPage();
    else if (page === "bulk" && action === "show") await bulkPage(query.arg);
    else if (!Object.hasOwn(nouns, page)) view.replaceChildren(el("h1", null, "There is no such page"));
    else if (action === "show") await showPage(page, words);
    else await listPage(page, query);
  } catch (error) {
    if (mine === turn) view.replaceChildren(...error.head ?? [el("h1", null, pages.find(([name]) => name === page)?.[1] ?? "pawl")], failure(error));
  }
  if (mine === turn) view.removeAttribute("aria-busy");
}

// Its address, "#view", would be that of a page.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  view.focus();
});

// Closes a dialog about a row of the previous page.
window.addEventListener("hashchange", async () => {
  const dialog = document.getElementById("ask");
  if (dialog.open) dialog.dispatchEvent(new Event("cancel"));
  forget();
  await route();
  view.focus({ preventScroll: false });
});
about = await get("about").catch((error) => { view.replaceChildren(failure(error)); return about; });
document.getElementById("about").textContent = [about.store, about.user, about.may_write ? null : "read only"].filter(Boolean).join(" · ");
listen();
await route();
