// Sorting and filtering of the page's tables, and the browser of instances.
"use strict";

const NONE = "–";
const PER_PAGE = 10;
const MOST_ROWS = 200;
const collator = new Intl.Collator(document.documentElement.lang, { numeric: true });
const texts = JSON.parse(document.getElementById("texts").textContent);

/* A text of the page's language, with words in its braces. */
function phrase(key, words = {}) {
  return texts[key].replace(/\{(\w+)\}/g, (_, name) => words[name]);
}

/* The state of the page is in its address, behind the place: #scores-title?dataset=mc&scores.find=x
   A setting is a control with a name; `apply` shows a value, "" for the usual one. */

const settings = new Map();
const state = new URLSearchParams();

function placeOf(hash) {
  const [place, query = ""] = decodeURIComponent(hash.slice(1)).split("?");
  return [place, query];
}

function remember(name, value) {
  if (value) state.set(name, value);
  else state.delete(name);
  showState();
}

function showState() {
  const [place] = placeOf(location.hash);
  const query = String(state);
  if (place || query) history.replaceState(null, "", `#${place}${query && "?" + query}`);
}

function readState() {
  const [place, query] = placeOf(location.hash);
  for (const [name, value] of new URLSearchParams(query)) {
    state.set(name, value);
    settings.get(name)?.(value);
  }
  showState();
  const target = document.getElementById(place);
  if (target?.tagName === "DETAILS") target.open = true;
  const chosen = target?.closest(".panel")?.previousElementSibling;
  if (chosen) chosen.control.checked = true;
  if (query) target?.scrollIntoView();
}

/* Sorting: headers become buttons; a third click gives the first order back. Cells without a value
   stay last, numbers are sorted within their unit. */

function valueOf({ dataset, textContent }) {
  if (dataset.value !== undefined) return Number(dataset.value);
  const text = textContent.trim();
  return text === NONE ? null : text;
}

function compare(one, other) {
  if (typeof one === "number" && typeof other === "number") return one - other;
  return collator.compare(String(one), String(other));
}

function sorted(rows, column, descending) {
  const keyed = rows.map((row) => {
    const cell = row.cells[column];
    return [row, cell.dataset.unit ?? "", valueOf(cell)];
  });
  keyed.sort(([, unit, one], [, otherUnit, other]) => {
    if (one === null || other === null) return (one === null) - (other === null);
    const order = collator.compare(unit, otherUnit) || compare(one, other);
    return descending ? -order : order;
  });
  return keyed.map(([row]) => row);
}

/* Of a long table only the first rows are laid out, until all are asked for. */

const whole = new Set();

function shorten(table) {
  let count = 0;
  for (const row of table.tBodies[0].rows) {
    count += !row.hidden;
    row.classList.toggle("beyond", count > MOST_ROWS && !whole.has(table));
  }
  const frame = table.closest(".frame");
  const isShort = count > MOST_ROWS && !whole.has(table);
  if (frame.nextElementSibling?.className === "pages") frame.nextElementSibling.remove();
  if (!isShort) return;
  const button = element("button", { type: "button" }, phrase("show_all"));
  button.addEventListener("click", () => {
    whole.add(table);
    shorten(table);
  });
  const shown = phrase("rows_shown", { count: MOST_ROWS, all: count });
  frame.after(element("div", { className: "pages" }, button, shown));
}

function makeSortable(table) {
  const headers = [...table.tHead.rows[0].cells];
  const [body] = table.tBodies;
  const first = [...body.rows];
  const name = `${table.id}.sort`;
  // "2-" is by the second column, descending; "" is the first order.
  const apply = (order) => {
    const column = parseInt(order, 10) - 1;
    const descending = order.endsWith("-");
    for (const header of headers) header.removeAttribute("aria-sort");
    headers[column]?.setAttribute("aria-sort", descending ? "descending" : "ascending");
    body.append(...(headers[column] ? sorted(first, column, descending) : first));
    shorten(table);
  };
  headers.forEach((header, column) => {
    const link = header.querySelector("a");
    const button = element("button", { type: "button" }, ...(link ? [] : header.childNodes));
    if (link) button.ariaLabel = phrase("sort_by", { column: link.textContent });
    header.append(button);
    button.addEventListener("click", () => {
      // Numbers are first sorted with the largest on top.
      const orders = ["ascending", "descending"];
      if (header.classList.contains("number")) orders.reverse();
      const next = orders[orders.indexOf(header.ariaSort) + 1];
      const order = next ? `${column + 1}${next === "descending" ? "-" : "+"}` : "";
      apply(order);
      remember(name, order);
    });
  });
  settings.set(name, apply);
  shorten(table);
}

/* Filters of tables. */

function folded(text) {
  return text.normalize("NFD").replace(/\p{Mn}/gu, "").toLowerCase();
}

function hasAll(words, text) {
  return folded(words).split(/\s+/).every((word) => text.includes(word));
}

function makeFilterable(controls) {
  const table = document.getElementById(controls.dataset.table);
  const [find, group, tone, pair] = [".find", ".group", ".tone", ".pair"].map(
    (name) => controls.querySelector(name)
  );
  const rows = [...table.tBodies[0].rows];
  const names = rows.map((row) => pair && pairOf(row.cells[0]));
  let searched;
  const clear = element("button", { type: "button" }, phrase("show_all"));
  const empty = element("p", { className: "empty" }, `${phrase("no_row")} `, clear);
  table.closest(".frame").before(empty);
  const update = () => {
    if (find.value) searched ??= rows.map((row) => folded(row.textContent));
    rows.forEach((row, index) => {
      row.hidden =
        Boolean(find.value && !hasAll(find.value, searched[index])) ||
        Boolean(group?.value && row.dataset.group !== group.value) ||
        Boolean(tone?.value && !row.querySelector(".tone-" + tone.value)) ||
        Boolean(pair?.value && names[index] && !names[index].includes(pair.value));
    });
    const count = rows.filter((row) => !row.hidden).length;
    controls.querySelector(".count").textContent =
      phrase("rows_shown", { count, all: rows.length });
    empty.hidden = count > 0;
    if (pair) showPairs(table, pair.value);
    shorten(table);
  };
  const present = [find, group, tone, pair].filter(Boolean);
  for (const control of present) {
    const name = `${table.id}.${control.className}`;
    // What is chosen at first need not be said; "all" is said in a word of its own.
    const usual = control.value;
    control.addEventListener("input", () => {
      update();
      remember(name, control.value === usual ? "" : control.value || "all");
    });
    settings.set(name, (value) => {
      control.value = value === "all" ? "" : value;
      update();
    });
  }
  clear.addEventListener("click", () => {
    for (const control of present) {
      control.value = "";
      control.dispatchEvent(new Event("input"));
    }
  });
  controls.hidden = false;
  update();
}

function pairOf(cell) {
  const names = cell.textContent.trim().split(" − ");
  return names.length > 1 ? names : null;
}

function showPairs(table, encoder) {
  const pairs = [...table.tHead.rows[0].cells].map(pairOf);
  for (const row of table.rows) {
    [...row.cells].forEach((cell, column) => {
      cell.hidden = Boolean(encoder && pairs[column] && !pairs[column].includes(encoder));
    });
  }
}

/* Every table as CSV and JSON: shares and correlations as fractions, as in the data of the report,
   the ends of an interval, further content and marks in columns of their own. */

const PARTS = ["value", "low", "high", "note", "mark"];

function factsOf(cell) {
  const copy = cell.cloneNode(true);
  const [mark, detail] = ["sup", "small"].map((name) => {
    const part = copy.querySelector(name);
    part?.remove();
    return part?.textContent ?? "";
  });
  const [ends = "", low = "", high = ""] = detail.match(/^\[(\S+), (\S+)\] ?/) ?? [];
  const share = (end) => end && Number((end / 100).toFixed(4));
  const { value } = cell.dataset;
  const text = copy.textContent.trim();
  const note = detail.slice(ends.length);
  // Of several numbers in a cell, one is what rows are sorted by.
  const number = value !== undefined && !text.includes(" / ");
  const content = number ? Number(value) : text === NONE ? "" : text;
  return { value: content, low: share(low), high: share(high), note, mark };
}

function linesOf(table) {
  const [names, ...rows] = [[...table.tHead.rows].at(-1), ...table.tBodies[0].rows].map(
    (row) => [...row.cells].map(factsOf)
  );
  const columns = names.flatMap(({ value: name }, place) =>
    PARTS.filter((part) => part === "value" || rows.some((row) => row[place][part] !== ""))
      .map((part) => [part === "value" ? name : `${name} ${phrase(part)}`, place, part]));
  const values = rows.map((row) => columns.map(([, place, part]) => row[place][part]));
  return [columns.map(([name]) => name), ...values];
}

const formats = {
  csv(lines) {
    const quoted = (field) => /[",\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
    return lines.map((line) => line.map(String).map(quoted).join(",") + "\n").join("");
  },
  json([names, ...lines]) {
    const row = (line) => Object.fromEntries(names.map((name, place) => [name, line[place]]));
    return JSON.stringify(lines.map(row), null, 1);
  },
};

function makeDownloadable(table) {
  const buttons = Object.entries(formats).map(([kind, write]) => {
    const title = `${table.id}.${kind}`;
    const button = element("button", { type: "button", title }, kind.toUpperCase());
    button.addEventListener("click", () => {
      const href = URL.createObjectURL(new Blob([write(linesOf(table))]));
      element("a", { href, download: title }).click();
      URL.revokeObjectURL(href);
    });
    return button;
  });
  table.closest(".frame").after(element("p", { className: "downloads" }, ...buttons));
}

/* Boxes that scroll sideways show a shadow at an edge with more content beyond it. */

function hint(frames) {
  // All are measured before one is changed, or else the page is laid out again for each.
  const changes = frames.map((frame) => {
    const scroller = frame.firstElementChild;
    const left = Math.abs(scroller.scrollLeft);
    const right = scroller.scrollWidth - scroller.clientWidth - left;
    const bar = scroller.offsetWidth - scroller.clientWidth - 2 * scroller.clientLeft;
    const room = frame.parentElement.clientWidth - 2 - scroller.firstElementChild.offsetWidth;
    return [frame, { "more-left": left > 1, "more-right": right > 1, fits: room >= 0 }, bar];
  });
  for (const [frame, classes, bar] of changes) {
    for (const [name, applies] of Object.entries(classes)) frame.classList.toggle(name, applies);
    frame.style.setProperty("--bar", `${bar}px`);
  }
}

const observer = new ResizeObserver((resized) => {
  hint([...new Set(resized.map(({ target }) => target.closest(".frame")))]);
});

function makeHinting(frame) {
  const scroller = frame.firstElementChild;
  scroller.addEventListener("scroll", () => hint([frame]), { passive: true });
  for (const box of [scroller, ...scroller.children]) observer.observe(box);
}

/* The browser of instances. */

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children.filter(Boolean));
  return made;
}

function drawing(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function partElement(part, language) {
  const units = part.units.map((unit) => element("span", { className: "unit" }, unit));
  return element(
    "li", { className: part.marked ? "marked" : part.tag ? "" : "plain" },
    part.tag && element("span", { className: "tag" }, part.tag),
    element("span", { className: "text", lang: language, dir: "auto" }, ...units),
    part.note && element("span", { className: "note" }, part.note)
  );
}

function answerElement(className, name, answer, beside, ...after) {
  const small = beside ? [" ", element("small", {}, beside)] : [];
  return element("li", { className }, ...name, element("b", {}, answer), ...after, ...small);
}

function answersElement({ labels, encoders }, row) {
  const [gold, told] = row.told;
  const answers = row.answers.map(([answer, wrong, beside], index) => {
    const sign = element("span", { className: "sign", ariaHidden: "true" }, wrong ? "✗" : "✓");
    const text = labels.length ? labels[answer] : String(answer);
    const fault = wrong ? `, ${phrase(labels.length ? "wrong" : "far_off")}` : "";
    const named = [sign, ` ${encoders[index]}: `];
    return answerElement(wrong ? "wrong" : "right", named, text, beside, fault);
  });
  const first = answerElement("gold", [`${phrase("gold")}: `], gold, told);
  return element("ul", { className: "answers" }, first, ...answers);
}

/* A tree of spans: the whole text on top, each node with its nucleus and its satellite. */
function treeElement(dataset, row) {
  const spans = dataset.trees[row.tree].map((node) => ({
    node, start: Math.min(node[0], node[2]), end: Math.max(node[1], node[3]),
  }));
  spans.sort((one, other) => one.start - other.start || other.end - one.end);
  const first = Math.min(...spans.map(({ start }) => start));
  const count = Math.max(...spans.map(({ end }) => end)) - first + 1;
  const width = Math.max(34, Math.min(110, 860 / count));
  const height = 26;
  const open = [];
  let deepest = 0;
  const drawn = spans.map(({ node, start, end }) => {
    while (open.length && open.at(-1) < start) open.pop();
    const y = open.length * height;
    deepest = Math.max(deepest, open.length);
    open.push(end);
    const isRow = row.node.every((unit, index) => unit === node[index]);
    const label = dataset.labels[node[4]];
    const room = Math.floor(((end - start + 1) * width - 10) / 6.4);
    const short = label.length > room ? label.slice(0, Math.max(1, room - 1)) + "…" : label;
    const box = (from, to, kind) => drawing("rect", {
      x: (from - first) * width, y, width: (to - from + 1) * width, height: height - 3, rx: 3,
      class: isRow ? "shown" : kind,
    });
    return drawing(
      "g", {},
      drawing("title", {}, phrase("node", { label, first: start + 1, last: end + 1 })),
      box(node[0], node[1], "nucleus"),
      box(node[2], node[3], label.startsWith("NN") ? "nucleus" : "satellite"),
      drawing("text", { x: (start - first) * width + 6, y: y + 16 }, short)
    );
  });
  const bottom = (deepest + 1) * height;
  const units = Array.from({ length: count }, (_, unit) =>
    drawing("text", { x: (unit + 0.5) * width, y: bottom + 13 }, String(first + unit + 1)));
  const described = phrase("tree", { relations: spans.length, units: count });
  const size = { width: count * width, height: bottom + 20, role: "img", "aria-label": described };
  return element(
    "div", { className: "tree", tabIndex: 0 },
    element("span", { className: "label" }, phrase("tree_legend")),
    drawing("svg", size, ...drawn, drawing("g", { class: "units" }, ...units))
  );
}

function instanceElement(dataset, row) {
  const facts = [["id", row.id], ...dataset.columns.map((name, index) => [name, row.values[index]])]
    // Without documents, the id of a row is its document_id.
    .filter(([name, value]) => value !== NONE && !(name === "document_id" && value === row.id))
    .map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value)));
  const parts = row.parts.map((part) => partElement(part, dataset.language));
  return element(
    "li", { className: "instance" },
    element("ol", { className: "parts" }, ...parts),
    answersElement(dataset, row),
    row.tree === undefined ? "" : treeElement(dataset, row),
    element("div", { className: "provenance" }, element("dl", {}, ...facts))
  );
}

function searched(row) {
  const texts = row.parts.flatMap((part) => part.units);
  return folded([row.id, ...row.told, ...texts, ...row.values].join(" "));
}

function makeBrowser(datasets) {
  const [dataset, encoder, gold, find, wrong, previous, next] = [
    "dataset", "encoder", "gold", "find", "wrong", "previous", "next",
  ].map((id) => document.getElementById(id));
  const [about, question, list, found, page] = [
    "about-dataset", "question", "rows", "found", "page",
  ].map((id) => document.getElementById(id));
  const option = (value, text = value) => element("option", { value }, text);
  let number = 0;
  let current = datasets[0];

  for (const [label, members] of Map.groupBy(datasets, ({ group }) => group)) {
    dataset.append(element("optgroup", { label }, ...members.map(({ name }) => option(name))));
  }

  function isWrong({ answers }) {
    if (encoder.value === "all") return answers.every(([, isWrong]) => isWrong);
    if (encoder.value === "any") return answers.some(([, isWrong]) => isWrong);
    return answers[current.encoders.indexOf(encoder.value)][1];
  }

  function turn(to) {
    const rows = current.rows.filter((row) =>
      (!wrong.checked || isWrong(row)) &&
      (gold.value === "" || String(row.gold) === gold.value) &&
      hasAll(find.value, searched(row))
    );
    const pages = Math.max(1, Math.ceil(rows.length / PER_PAGE));
    number = Math.min(to, pages - 1);
    const shown = rows.slice(number * PER_PAGE, (number + 1) * PER_PAGE);
    list.replaceChildren(...shown.map((row) => instanceElement(current, row)));
    const asked = current.count.toLocaleString("en");
    const all = current.rows.length;
    found.textContent = phrase("rows_found", { count: rows.length, all, asked });
    page.textContent = phrase("page_of", { page: number + 1, pages });
    previous.disabled = number === 0;
    next.disabled = number >= pages - 1;
  }

  function choose() {
    current = datasets.find(({ name }) => name === dataset.value);
    const { encoders, labels, rows, title, card } = current;
    question.textContent = current.question;
    const links = [[phrase("audit"), `#verdicts-title?verdicts.find=${current.name}`], [phrase("card"), card]];
    const shown = links.filter(([, href]) => href)
      .flatMap(([text, href]) => [" · ", element("a", { href }, text)]);
    about.replaceChildren(title, ...shown);
    const before = encoder.value;
    const all = encoders.length > 1 ? [option("all", phrase("all_encoders"))] : [];
    const names = encoders.map((name) => option(name));
    encoder.replaceChildren(option("any", phrase("any_encoder")), ...all, ...names);
    if ([...encoder.options].some(({ value }) => value === before)) encoder.value = before;
    const asked = labels.map((label, index) => [String(index), label])
      .filter(([index]) => rows.some((row) => String(row.gold) === index));
    gold.replaceChildren(option("", phrase("all")), ...asked.map(([index, label]) => option(index, label)));
    gold.closest("label").hidden = labels.length === 0;
    turn(0);
  }

  dataset.addEventListener("input", () => {
    choose();
    for (const name of ["gold", "find", "wrong"]) state.delete(name);
    remember("dataset", dataset.value);
  });
  settings.set("dataset", (value) => {
    if (!datasets.some(({ name }) => name === value)) return;
    dataset.value = value;
    choose();
  });
  for (const control of [encoder, gold, find, wrong]) {
    const key = control === wrong ? "checked" : "value";
    control.addEventListener("input", () => {
      turn(0);
      remember(control.id, String(control[key] || ""));
    });
    settings.set(control.id, (value) => {
      control[key] = control === wrong ? value === "true" : value;
      turn(0);
    });
  }
  for (const [button, by] of [[previous, -1], [next, 1]]) {
    button.addEventListener("click", () => {
      turn(number + by);
      document.getElementById("instances-title").scrollIntoView();
    });
  }
  document.getElementById("browser").hidden = false;
  choose();
}

document.querySelectorAll("table.sortable").forEach(makeSortable);
document.querySelectorAll("main table").forEach(makeDownloadable);
document.querySelectorAll(".filters[data-table]").forEach(makeFilterable);
const nav = document.querySelector("nav");
new ResizeObserver(() => {
  document.documentElement.style.setProperty("--nav", `${nav.offsetHeight}px`);
}).observe(nav);
document.querySelectorAll(".frame").forEach(makeHinting);
makeBrowser(JSON.parse(document.getElementById("instances-data").textContent));
readState();
addEventListener("hashchange", readState);
