// Sorting and filtering of the page's tables, and the browser of instances.
"use strict";

const NONE = "–";
const PER_PAGE = 10;
const collator = new Intl.Collator("en", { numeric: true });

/* The state of the page is in its address, behind the place: #scores-title?dataset=mc&scores.find=x
   A setting is a control with a name; `apply` shows a value, "" for the usual one. */

const settings = new Map();
let state = new URLSearchParams();

function placeOf(hash) {
  const [place, query = ""] = decodeURIComponent(hash.slice(1)).split("?");
  return [place, query];
}

function setting(name, apply) {
  settings.set(name, apply);
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
  const given = new URLSearchParams(query);
  for (const [name, value] of given) {
    state.set(name, value);
    settings.get(name)?.(value);
  }
  showState();
  const target = document.getElementById(place);
  if (target?.tagName === "DETAILS") target.open = true;
  if (query) target?.scrollIntoView();
}

/* Sorting: headers become buttons; a third click gives the first order back. Cells without a value
   stay last, numbers are sorted within their unit. */

function valueOf(row, column) {
  const cell = row.cells[column];
  if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
  const text = cell.textContent.trim();
  return text === NONE ? null : text;
}

function compare(left, right) {
  if (typeof left === "number" && typeof right === "number") return left - right;
  return collator.compare(String(left), String(right));
}

function sorted(rows, column, descending) {
  const found = rows.map((row) => ({
    row, unit: row.cells[column].dataset.unit ?? "", value: valueOf(row, column),
  }));
  found.sort((one, other) => {
    if (one.value === null || other.value === null) {
      return (one.value === null) - (other.value === null);
    }
    const order = collator.compare(one.unit, other.unit) || compare(one.value, other.value);
    return descending ? -order : order;
  });
  return found.map(({ row }) => row);
}

function makeSortable(table) {
  const headers = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const first = [...body.rows];
  const name = `${table.id}.sort`;
  // "2-" is by the second column, descending; "" is the first order.
  const apply = (order) => {
    const column = parseInt(order, 10) - 1;
    for (const header of headers) header.removeAttribute("aria-sort");
    const descending = order.endsWith("-");
    headers[column]?.setAttribute("aria-sort", descending ? "descending" : "ascending");
    body.append(...(headers[column] ? sorted(first, column, descending) : first));
  };
  headers.forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    const link = header.querySelector("a");
    if (link) {
      header.append(button);
      button.ariaLabel = `sort by ${link.textContent}`;
    } else {
      button.append(...header.childNodes);
      header.append(button);
    }
    button.addEventListener("click", () => {
      // Numbers are first sorted with the largest on top.
      const signs = header.classList.contains("number") ? ["-", "+"] : ["+", "-"];
      const before = header.getAttribute("aria-sort");
      const place = before ? signs.indexOf(before === "descending" ? "-" : "+") + 1 : 0;
      const order = place < 2 ? `${column + 1}${signs[place]}` : "";
      apply(order);
      remember(name, order);
    });
  });
  setting(name, apply);
}

/* Filters of tables. */

function folded(text) {
  return text.normalize("NFD").replace(/\p{Mn}/gu, "").toLowerCase();
}

function makeFilterable(controls) {
  const table = document.getElementById(controls.dataset.table);
  const names = ["find", "group", "tone", "pair"];
  const found = names.map((name) => controls.querySelector("." + name));
  const [find, group, tone, pair] = found;
  const rows = [...table.tBodies[0].rows];
  const texts = new Map(rows.map((row) => [row, folded(row.textContent)]));
  const pairs = new Map(rows.map((row) => [row, pairOf(row.cells[0])]));
  const clear = element("button", { type: "button" }, "Show all rows");
  const empty = element("p", { className: "empty" }, "No row has all of this. ", clear);
  table.closest(".frame").before(empty);
  const update = () => {
    const words = folded(find.value).split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      row.hidden =
        !words.every((word) => texts.get(row).includes(word)) ||
        Boolean(group?.value && row.dataset.group !== group.value) ||
        Boolean(tone?.value && !row.querySelector(".tone-" + tone.value)) ||
        Boolean(pair?.value && pairs.get(row) && !pairs.get(row).includes(pair.value));
      count += !row.hidden;
    }
    controls.querySelector(".count").textContent = `${count} of ${rows.length} rows`;
    empty.hidden = count > 0;
    if (pair) showPairs(table, pair.value);
  };
  found.forEach((control, index) => {
    if (!control) return;
    const name = `${table.id}.${names[index]}`;
    // What is chosen at first need not be said; "all" is said in a word of its own.
    const usual = control.value;
    control.addEventListener("input", () => {
      update();
      remember(name, control.value === usual ? "" : control.value || "all");
    });
    setting(name, (value) => {
      control.value = value === "all" ? "" : value;
      update();
    });
  });
  clear.addEventListener("click", () => {
    for (const control of found) {
      if (!control) continue;
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
      cell.hidden = encoder !== "" && pairs[column] !== null && !pairs[column].includes(encoder);
    });
  }
}

/* Boxes that scroll sideways show a shadow at an edge with more content beyond it. */

function makeHinting(frame) {
  const scroller = frame.firstElementChild;
  const update = () => {
    const beyond = scroller.scrollWidth - scroller.clientWidth - Math.abs(scroller.scrollLeft);
    frame.classList.toggle("more-left", Math.abs(scroller.scrollLeft) > 1);
    frame.classList.toggle("more-right", beyond > 1);
    const bar = scroller.offsetWidth - scroller.clientWidth - 2 * scroller.clientLeft;
    frame.style.setProperty("--bar", `${bar}px`);
    const content = scroller.firstElementChild;
    frame.classList.toggle("fits", content.offsetWidth <= frame.parentElement.clientWidth - 2);
  };
  scroller.addEventListener("scroll", update, { passive: true });
  const observer = new ResizeObserver(update);
  for (const box of [frame.parentElement, scroller, ...scroller.children]) observer.observe(box);
}

/* The browser of instances. */

function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  Object.assign(made, properties);
  made.append(...children);
  return made;
}

function drawing(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function classOf(dataset, answer) {
  return dataset.labels.length ? dataset.labels[answer] : String(answer);
}

function partElement(part, language) {
  const units = part.units.map((unit) => element("span", { className: "unit" }, unit));
  const item = element("li", { className: part.marked ? "marked" : part.tag ? "" : "plain" });
  if (part.tag) item.append(element("span", { className: "tag" }, part.tag));
  item.append(element("span", { className: "text", lang: language, dir: "auto" }, ...units));
  if (part.note) item.append(element("span", { className: "note" }, part.note));
  return item;
}

function answerElement(dataset, name, [answer, wrong, beside]) {
  const item = element("li", { className: wrong ? "wrong" : "right" });
  item.append(element("span", { className: "sign", ariaHidden: "true" }, wrong ? "✗" : "✓"));
  item.append(` ${name}: `, element("b", {}, classOf(dataset, answer)));
  if (wrong) item.append(dataset.labels.length ? ", wrong" : ", far off");
  if (beside) item.append(" ", element("small", {}, beside));
  return item;
}

/* A tree of spans: the whole text on top, each node with its nucleus and its satellite. */
function treeElement(dataset, row) {
  const nodes = dataset.trees[row.tree];
  const last = Math.max(...nodes.map((node) => Math.max(node[1], node[3])));
  const first = Math.min(...nodes.map((node) => Math.min(node[0], node[2])));
  const width = Math.max(34, Math.min(110, 860 / (last - first + 1)));
  const height = 26;
  const open = [];
  let deepest = 0;
  const drawn = [];
  const spans = nodes.map((node) => ({
    node, start: Math.min(node[0], node[2]), end: Math.max(node[1], node[3]),
  }));
  spans.sort((one, other) => one.start - other.start || other.end - one.end);
  for (const { node, start, end } of spans) {
    while (open.length && open[open.length - 1] < start) open.pop();
    const depth = open.length;
    open.push(end);
    deepest = Math.max(deepest, depth);
    const isRow = row.node.every((place, index) => place === node[index]);
    const label = dataset.labels[node[4]];
    const title = `${label}, units ${start + 1} to ${end + 1}`;
    const group = drawing("g", {}, drawing("title", {}, document.createTextNode(title)));
    [[node[0], node[1], true], [node[2], node[3], label.startsWith("NN")]].forEach(
      ([from, to, nucleus]) => {
        group.append(drawing("rect", {
          x: (from - first) * width, y: depth * height, width: (to - from + 1) * width,
          height: height - 3, rx: 3,
          class: isRow ? "own" : nucleus ? "nucleus" : "satellite",
        }));
      }
    );
    const room = Math.floor(((end - start + 1) * width - 10) / 6.4);
    const short = label.length > room ? label.slice(0, Math.max(1, room - 1)) + "…" : label;
    const text = drawing("text", { x: (start - first) * width + 6, y: depth * height + 16 });
    text.textContent = short;
    group.append(text);
    drawn.push(group);
  }
  const units = drawing("g", { class: "units" });
  for (let unit = first; unit <= last; unit += 1) {
    const x = (unit - first + 0.5) * width;
    const text = drawing("text", { x, y: (deepest + 1) * height + 13 });
    text.textContent = String(unit + 1);
    units.append(text);
  }
  const size = { width: (last - first + 1) * width, height: (deepest + 1) * height + 20 };
  const described = `Tree of the text, ${nodes.length} relations over ${last - first + 1} units`;
  const svg = drawing("svg", { ...size, role: "img", "aria-label": described }, ...drawn, units);
  return element(
    "div", { className: "tree", tabIndex: 0 },
    element("span", { className: "label" }, "Tree of the text: nuclei in colour, this row framed"),
    svg
  );
}

function instanceElement(dataset, row) {
  const parts = element("ol", { className: "parts" });
  parts.append(...row.parts.map((part) => partElement(part, dataset.language)));
  const answers = element("ul", { className: "answers" });
  const [answer, beside] = row.told;
  const gold = element("li", { className: "gold" }, "gold: ", element("b", {}, answer));
  if (beside) gold.append(" ", element("small", {}, beside));
  answers.append(gold);
  dataset.encoders.forEach((name, index) => {
    answers.append(answerElement(dataset, name, row.answers[index]));
  });
  const facts = element("dl");
  [["id", row.id], ...dataset.columns.map((name, index) => [name, row.values[index]])].forEach(
    ([name, value]) => {
      // Without documents, the id of a row is its document_id.
      if (value !== NONE && !(name === "document_id" && value === row.id)) {
        facts.append(element("div", {}, element("dt", {}, name), element("dd", {}, value)));
      }
    }
  );
  const item = element("li", { className: "instance" }, parts, answers);
  if (row.tree !== undefined) item.append(treeElement(dataset, row));
  item.append(element("div", { className: "provenance" }, facts));
  return item;
}

function searched(row) {
  return folded(
    [row.id, ...row.told, ...row.parts.flatMap((part) => part.units), ...row.values].join(" ")
  );
}

function makeBrowser(datasets) {
  const [dataset, encoder, gold, find, wrong, previous, next] = [
    "dataset", "encoder", "gold", "find", "wrong", "previous", "next",
  ].map((id) => document.getElementById(id));
  const [about, question, list, found, page] = [
    "about-dataset", "question", "rows", "found", "page",
  ].map((id) => document.getElementById(id));
  const option = (value, text) => element("option", { value }, text);
  let place = 0;
  let current = datasets[0];

  const groups = new Map();
  for (const { group, name } of datasets) {
    if (!groups.has(group)) groups.set(group, element("optgroup", { label: group }));
    groups.get(group).append(option(name, name));
  }
  dataset.append(...groups.values());

  function isWrong(row) {
    const answers = row.answers.map((answer) => answer[1]);
    if (encoder.value === "all") return answers.every(Boolean);
    if (encoder.value === "any") return answers.some(Boolean);
    return answers[current.encoders.indexOf(encoder.value)];
  }

  function shown() {
    const words = folded(find.value).split(/\s+/).filter(Boolean);
    return current.rows.filter((row) =>
      (!wrong.checked || isWrong(row)) &&
      (gold.value === "" || String(row.gold) === gold.value) &&
      words.every((word) => searched(row).includes(word))
    );
  }

  function update() {
    const rows = shown();
    const pages = Math.max(1, Math.ceil(rows.length / PER_PAGE));
    place = Math.min(place, pages - 1);
    const some = rows.slice(place * PER_PAGE, (place + 1) * PER_PAGE);
    list.replaceChildren(...some.map((row) => instanceElement(current, row)));
    found.textContent =
      `${rows.length} of ${current.rows.length} rows on this page; ${current.count.toLocaleString("en")} test rows in all`;
    page.textContent = `page ${place + 1} of ${pages}`;
    previous.disabled = place === 0;
    next.disabled = place >= pages - 1;
  }

  function choose() {
    current = datasets.find(({ name }) => name === dataset.value);
    question.textContent = current.question;
    about.replaceChildren(current.title);
    if (current.card) about.append(" · ", element("a", { href: current.card }, "card"));
    const before = encoder.value;
    encoder.replaceChildren(option("any", "any encoder"));
    if (current.encoders.length > 1) encoder.append(option("all", "all encoders"));
    encoder.append(...current.encoders.map((name) => option(name, name)));
    if ([...encoder.options].some(({ value }) => value === before)) encoder.value = before;
    gold.replaceChildren(option("", "all"));
    current.labels.forEach((label, index) => {
      if (current.rows.some((row) => row.gold === index)) gold.append(option(String(index), label));
    });
    document.getElementById("gold-label").hidden = current.labels.length === 0;
    again();
  }

  function again() {
    place = 0;
    update();
  }

  function turn(by) {
    place += by;
    update();
    document.getElementById("instances-title").scrollIntoView();
  }

  dataset.addEventListener("input", () => {
    choose();
    for (const name of ["gold", "find", "wrong"]) state.delete(name);
    remember("dataset", dataset.value);
  });
  setting("dataset", (name) => {
    if (!datasets.some((own) => own.name === name)) return;
    dataset.value = name;
    choose();
  });
  for (const control of [encoder, gold, find, wrong]) {
    const value = control === wrong ? "checked" : "value";
    control.addEventListener("input", () => {
      again();
      remember(control.id, String(control[value] || ""));
    });
    setting(control.id, (given) => {
      control[value] = control === wrong ? given === "true" : given;
      again();
    });
  }
  previous.addEventListener("click", () => turn(-1));
  next.addEventListener("click", () => turn(1));
  document.getElementById("browser").hidden = false;
  choose();
}

document.querySelectorAll("table.sortable").forEach(makeSortable);
document.querySelectorAll(".filters[data-table]").forEach(makeFilterable);
const nav = document.querySelector("nav");
new ResizeObserver(() => {
  document.documentElement.style.setProperty("--nav", `${nav.offsetHeight}px`);
}).observe(nav);
document.querySelectorAll(".frame").forEach(makeHinting);
makeBrowser(JSON.parse(document.getElementById("instances-data").textContent));
readState();
addEventListener("hashchange", readState);
