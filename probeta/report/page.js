// The page: a state, kept in the address (#benchmark/chapter/dataset?pin=…&a=…), and a function
// for each chapter that writes its HTML. D is the data, see page.py: a score is [value, low, high]
// in tenths of a point, a difference likewise, with a 1 if it is tied; 0 stands for none.
"use strict";
const D = JSON.parse(document.getElementById("data").textContent);
const FEW = 4; // encoders that have a colour and a column
const MOST = 20; // encoders that are shown at once
const LONG = 24; // datasets of a benchmark, above which groups fold; on phones half as many
const NAMES = D.encoders.map(([name]) => name);
const PAIRS = new Map(D.pairs.map(([x, y], n) => [`${x},${y}`, n]));
const HOME = D.benchmarks.length > 1 ? null : D.benchmarks[0]; // null: all benchmarks
const PLACES = HOME && !D.languages ? D.benchmarks : [null, ...D.benchmarks];
let state = {};
let kept = null; // the address that an option has just changed

const $ = (id) => document.getElementById(id);
const esc = (text) => String(text).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const phrase = (key, words = {}) => D.texts[key].replace(/\{(\w+)\}/g, (_, name) => words[name]);
const points = (value) => (value == null ? "–" : (value / 10).toFixed(1).replace("-", "−"));
const shows = (value) => (value >= 1000 ? phrase("none") : points(value));
const signed = (value) => (value > 0 ? "+" : "") + points(value);
const range = ([, low, high], write = points) => // of a few equal answers, an interval says nothing
  low === high ? "–" : phrase("to", { low: write(low), high: write(high) });
const bits = (value) => (value / 1000).toFixed(2).replace("-", "−");
// Measures of controls: how they are written, what is no more than nothing, where they are shown.
const ADDED = [["selectivity", (value) => signed(value), 0, ""],
  ["compression", bits, 1000, "rows"], ["information", bits, 0, ""]];
const number = (count) => count.toLocaleString("en");
const bold = (name) => `<b>${esc(name)}</b>`;
const link = (to, text, keep) => `<a href="${to}"${keep ? ` data-keep="${esc(keep)}"` : ""}>${
  text}</a>`; // `keep`: its name, if it changes an option, so that the view stays where it is
const extent = (values) => [Math.min(...values), Math.max(...values)];
const average = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const wide = () => innerWidth > 704;
const cap = (key) => phrase(key).replace(/^./, (letter) => letter.toUpperCase());
const vh = (text) => `<span class="vh">${text}</span>`;

const idOf = (b) => b?.id ?? "all";
const nameOf = (b) => esc(b?.name ?? phrase("all_benchmarks"));

/* The state. */

function read() {
  const [place, query = ""] = decodeURIComponent(location.hash.slice(1)).split("?");
  const [key, chapter, dataset] = place.split("/");
  const found = PLACES.findIndex((b) => idOf(b) === key);
  const benchmark = found < 0 ? HOME : PLACES[found];
  state = {
    benchmark, chapter: chapters(benchmark).includes(chapter) ? chapter : "overview",
    dataset: benchmark?.datasets.find((d) => d === dataset),
    options: Object.fromEntries(new URLSearchParams(query)),
  };
}

function address({ benchmark = state.benchmark, chapter = state.chapter, dataset, ...more } = {}) {
  const options = Object.entries({ ...state.options, ...more }).filter(([, value]) => value);
  const query = options.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&");
  const place = [idOf(benchmark), chapter, dataset];
  return `#${place.filter((part) => part && part !== "overview").join("/")}${query && "?" + query}`;
}

function chapters(b) {
  const has = {
    overview: true, scores: b?.means.length,
    compare: b?.datasets.some((d) => D.datasets[d].differences.some(Boolean)),
    added: b?.added?.some(Boolean), layers: b?.layers?.length,
    languages: !b && D.languages,
    predict: D.predict?.targets[idOf(b)], table_1: b?.id === "word_benchmarks",
    data: true, about: true,
  };
  return Object.keys(has).filter((chapter) => has[chapter]);
}

/* Encoders: their order on a benchmark, those with a colour, their differences. */

const cellsOf = (b, column) => b.means[column][0];
const floorOf = (b, column) => b.means[column][3];
function valueOf(b, e, column) {
  if (b.means.length) return cellsOf(b, column)[e]?.[0] ?? -2000;
  return average(b.datasets.map((d) => D.datasets[d].scores[e]?.[0] ?? 0));
}
function ranked(b, column = 0) {
  const values = NAMES.map((_, e) => valueOf(b, e, column));
  return NAMES.map((_, e) => e).sort((x, y) => values[y] - values[x] || x - y);
}
function pinned(b) {
  const asked = (state.options.pin ?? "").split(",").map((name) => NAMES.indexOf(name));
  const found = asked.filter((e) => e >= 0);
  const first = ranked(b ?? D.benchmarks[0]).slice(0, NAMES.length <= FEW ? FEW : 2);
  return (found.length ? found : first).slice(0, FEW).sort((x, y) => x - y);
}
function pinnedOf(b, having) {
  const chosen = pinned(b).filter((e) => having.includes(e));
  return chosen.length ? chosen : having.slice(0, 2);
}
function difference(differences, x, y) {
  const found = differences[PAIRS.get(`${x},${y}`)];
  if (found) return found;
  const turned = differences[PAIRS.get(`${y},${x}`)];
  return turned ? [-turned[0], -turned[2], -turned[1], turned[3]] : null;
}

/* Drawn: dots with intervals on a scale, in per cent of its width. */

const at = (value, [low, high] = [0, 1000]) =>
  (5 + (90 * (Math.min(Math.max(value, low), high) - low)) / (high - low)).toFixed(1) + "%";
const line = (kind, x1, x2, y1, y2 = y1) =>
  `<line class="${kind}" x1="${x1}" x2="${x2}" y1="${y1}" y2="${y2}"/>`;
const FORMS = ["", "M-3.6-3.6H3.6V3.6H-3.6z", "M0-5L4.8 4H-4.8z", "M0-5.2L5.2 0 0 5.2-5.2 0z"];
function shape(slot, x, y, hollow) {
  const kind = `class="dot e${slot}${hollow ? " hollow" : ""}"`;
  if (!FORMS[slot]) return `<circle ${kind} cx="${x}" cy="${y}" r="4"/>`;
  return `<svg x="${x}" y="${y}" overflow="visible"><path ${kind} d="${FORMS[slot]}"/></svg>`;
}
const drawing = (height, content, kind = "strip") =>
  `<svg class="${kind}" height="${height}" aria-hidden="true">${content}</svg>`;
function axis(ends = [0, 1000], write = (value) => String(value / 10), parts = 4) {
  const value = (n) => ends[0] + (n * (ends[1] - ends[0])) / parts;
  const ticks = Array.from({ length: parts + 1 }, (_, n) =>
    `<i style="left:${at(value(n), ends)}">${write(value(n)).replace("-", "−")}</i>`);
  return `<span class="axis" aria-hidden="true">${ticks.join("")}</span>`;
}
// The ends of a scale that fits scores, in steps of ten points, with whole numbers at its quarters.
function scale(cells, ...others) {
  const values = [...cells.flatMap((cell) => cell || []), ...others];
  const low = Math.max(Math.floor(Math.min(...values) / 100) * 100, -1000);
  const span = [200, 400, 600, 800].find((width) => low + width >= Math.max(...values)) ?? 1000;
  const start = span === 1000 ? Math.min(low, 0) : Math.min(low, 1000 - span);
  return [start, Math.max(start + span, Math.max(...values) > start + span ? 1000 : 0)];
}
const arrow = (x, y, slot, turn = "") => `<svg x="${x}" y="${y}" overflow="visible">
  <path class="arrow e${slot}" d="M4-4L0 0 4 4"${turn}/></svg>`; // the interval goes on
// Encoders of a row on one scale: those in `shown` as dots, the others as grey lines.
function strip(cells, marks, floor, shown, { slots = shown, ends, people, others = true } = {}) {
  const height = 10 * Math.max(shown.length, 1) + 8;
  const tick = (kind, value, top = 0, of = ends) =>
    line(kind, at(value, of), at(value, of), top, height - top);
  const rest = others ? cells.filter((cell, e) => cell && !shown.includes(e)) : [];
  const parts = [
    ...[0, 250, 500, 750, 1000].map((value) => tick("grid", value, 0, [0, 1000])),
    ...rest.map(([value]) => tick("rest", value, 3)),
    floor == null ? "" : tick("floor", floor), people ? tick("people", people) : "",
  ];
  shown.forEach((e, lane) => {
    const [cell, slot, y] = [cells[e], slots.indexOf(e) < 0 ? 9 : slots.indexOf(e), 9 + 10 * lane];
    if (!cell) return;
    if (cell[1] != null) parts.push(line(`span e${slot}`, at(cell[1], ends), at(cell[2], ends), y));
    parts.push(cell[0] < (ends?.[0] ?? 0) ? arrow("5%", y, slot)
      : shape(slot, at(cell[0], ends), y, "ws".includes(marks[e])));
  });
  return drawing(height, parts.join(""));
}
function forest([value, low, high, tied], reach) {
  const of = tied ? 9 : value > 0 ? 0 : 1;
  const ends = [-reach, reach];
  return drawing(18, [
    low < -reach ? arrow("5%", 9, of) : "",
    high > reach ? arrow("95%", 9, of, ` transform="scale(-1)"`) : "",
    line("zero", "50%", "50%", 0, 18), line(`span e${of}`, at(low, ends), at(high, ends), 9),
    shape(of, at(value, ends), 9, tied),
  ].join(""));
}
const swatch = (e, shown) => shown.includes(e)
  ? `<svg class="key" width="12" height="12" aria-hidden="true">
    ${shape(shown.indexOf(e), 6, 6)}</svg>` : "";
const named = (e, shown) =>
  `<span class="pin">${swatch(e, shown)}<span>${esc(NAMES[e])}</span></span>`;

/* Written: scores, legends, tables. */

// A score as a number: tinted if it leads, bold if alone, grey if not shown to beat the baseline.
const MARKS = { L: ["leads alone", "leads"], l: ["leads", "leads_with_others"],
  w: ["weak", "not_shown"], s: ["weak", "stays_below"] };
function score(cell, mark, ends = true) {
  if (!cell) return `<span class="none">–</span>`;
  const interval = cell[1] == null ? "" : phrase("interval_of", { range: range(cell) });
  const [kind, key] = MARKS[mark] ?? ["", ""];
  const said = key && phrase(key);
  const title = [interval, said].filter(Boolean).join("; ");
  const shown = ends && interval ? `<small class="ends">${range(cell)}</small>` : "";
  return `<span class="score ${kind}" title="${title}">${points(cell[0])}</span>
    ${said && vh(` ${said}`)}${shown}`;
}
function legend(shown, { numbers = true, explain = true, people } = {}) {
  const key = (width, drawn, text) =>
    `<span><svg width="${width}" height="12" aria-hidden="true">${drawn}</svg>${text}</span>`;
  const of = (e, slot) =>
    key(26, line(`span e${slot}`, 0, 26, 6) + shape(slot, 13, 6), esc(NAMES[e]));
  const example = (kind) => `<span class="score ${kind}">12.3</span>`;
  const marks = [
    key(26, line("span tie", 0, 26, 6), phrase("interval")),
    key(3, line("floor", 1.5, 1.5, 0, 12), phrase("trivial_short")),
    people && key(3, line("people", 1.5, 1.5, 0, 12), phrase("people")),
    key(12, shape(9, 6, 6, true), (numbers ? example("weak") : "") + phrase("not_shown_short")),
    numbers && NAMES.length > 1 && `<span>${example("leads alone")}${phrase("leads")}</span>
      <span>${example("leads")}${phrase("leads_with_others")}</span>`,
    NAMES.length > shown.length && key(3, line("rest", 1.5, 1.5, 0, 12), phrase("another_encoder")),
    link(address({ chapter: "about" }), phrase("more")),
  ];
  const how = `<details${wide() ? " open" : ""}><summary>${phrase("how_to_read")}</summary>
    <p>${marks.filter(Boolean).join("")}</p></details>`;
  return `<div class="legend"><p>${shown.map(of).join("")}</p>${explain ? how : ""}</div>`;
}
// A table that scrolls by itself where it must; on narrow screens those of kind "stack" are cards.
function table(kind, caption, head, body) {
  const cell = ([text, of = ""]) =>
    `<th role="columnheader" scope="col" class="${of}">${text}</th>`;
  return `<div class="scroll ${kind}" role="region" aria-label="${esc(caption)}"
    data-hint="${phrase("scrolls")}"><table role="table">
    <caption class="vh">${esc(caption)}</caption>
    <thead role="rowgroup"><tr role="row">${head.map(cell).join("")}</tr></thead>
    <tbody role="rowgroup">${body}</tbody></table></div>`;
}
function row(first, cells, kind = "") {
  const cell = ([html, of = "", name]) =>
    `<td role="cell" class="${of}"${name ? ` data-of="${esc(name)}"` : ""}>${html}</td>`;
  return `<tr role="row" class="${kind}"><th role="rowheader" scope="row">${first}</th>${
    cells.map(cell).join("")}</tr>`;
}
const around = (reach) => axis([-reach, reach], (value) => (value > 0 ? "+" : "") + value / 10, 2);
const drawn = (text, ticks) => [`${text}${ticks}`, "plot"];
const heading = (title, lead) =>
  `<h2 id="title" tabindex="-1">${title}</h2>${lead ? `<p class="asks">${lead}</p>` : ""}`;
const folded = (title, content, open) =>
  `<details${open ? " open" : ""}><summary><h3>${title}</h3></summary>${content}</details>`;
// The lines to cite scores by; `of`: data, n, and the protocol of scores without a probe.
function cites([data, n, protocol], cells, shown) {
  const lines = shown.filter((e) => cells[e]).map((e) => D.cited_by[e]).map(([v, usual, by]) =>
    `probeta:${v}|data:${data}|protocol:${protocol ?? usual}|encoder:${by}|n:${n}`);
  const code = `<pre><code>${esc(lines.join("\n"))}</code></pre>`;
  return lines.length ? folded(phrase("cite"), code) : "";
}
const pairs = (rows) => `<dl class="groups">${rows
  .map(([of, text]) => `<div><dt>${of}</dt><dd>${text}</dd></div>`).join("")}</dl>`;
const choice = (name, label, options, chosen) => `<label>${label}
  <select data-option="${name}">${options.map(([value, text]) =>
    `<option value="${esc(value)}"${value === chosen ? " selected" : ""}>${esc(text)}</option>`)
    .join("")}</select></label>`;
const groupOf = (b, it) => b.groups.find(([key]) => key === it.group)[1];
const whole = (b, it) => `${groupOf(b, it)}: ${it.name}`;
const toDataset = (d, text) => link(address({ chapter: "data", dataset: d }), esc(text));
const cut = (order, shown) =>
  state.options.all ? order : order.filter((e, n) => n < MOST || shown.includes(e));
const showAll = (order, shown) => shown.length === order.length ? "" : `<p class="under">${link(
  address({ dataset: state.dataset, all: 1 }), phrase("show_all", { count: number(order.length) }),
  "all")}</p>`;

/* Chapters. */

const SHOW = {
  all() {
    const shown = pinned(null);
    const result = (b) => {
      if (!b.means.length) return `<span class="none">${phrase("no_average")}</span>`;
      const [cells, marks, , floor, people] = b.means[0];
      return strip(cells, marks, floor, shown, { people });
    };
    const body = D.benchmarks.map((b) => row(
      `${link(address({ benchmark: b }), esc(b.name))}<small>${esc(b.asks)}</small>`,
      [[result(b), "plot"], [b.brief, "says"]],
    ));
    const people = D.benchmarks.some((b) => b.means[0]?.[4]);
    const head = [[phrase("benchmark")], drawn(phrase("mean_of_datasets"), axis()),
      [phrase("result")]];
    return `${heading(phrase("all_benchmarks"))}<p class="result">${D.result}</p>
      ${legend(shown, { numbers: false, people })}
      ${table("stack first", phrase("benchmarks"), head, body.join(""))}`;
  },

  overview(b) {
    const shown = pinned(b);
    const body = b.means.length ? means(b, shown) : scoresTable(b, shown);
    const facts = b.facts.map(([text, chapter]) => `<li>${esc(text)} ${chapters(b).includes(chapter)
      && chapter !== "about" ? link(address({ chapter }), phrase(chapter)) : ""}</li>`);
    const leads = b.means.length ? "" : b.leads;
    const asked = b.means.length ? b.groups.map(([key, name]) => {
      const asking = new Map(); // question to links; of many questions, the names say enough
      for (const d of b.datasets.filter((each) => D.datasets[each].group === key)) {
        const [question] = D.datasets[d].question.match(/^[^?]*\?|^.*/s);
        const links = asking.get(question) ?? [];
        asking.set(question, [...links, toDataset(d, D.datasets[d].name)]);
      }
      const all = [...asking.values()].flat().join(" · ");
      const text = asking.size > FEW ? `<span class="links">${all}</span>` : [...asking]
        .map(([question, links]) =>
          `${esc(question)} <span class="links">${links.join(" · ")}</span>`).join("");
      return [esc(name), text];
    }) : [];
    return `${heading(esc(b.name), esc(b.asks))}<p class="result">${leads} ${b.result}</p>
      ${legend(shown, { people: b.means[0]?.[4] })}${body}
      ${facts.length ? `<ul class="facts">${facts.join("")}</ul>` : ""}
      ${b.means.length ? cites(b.cited[0], cellsOf(b, 0), shown) : ""}
      ${asked.length ? `<h3>${phrase("what_it_asks")}</h3>${pairs(asked)}` : ""}`;
  },

  scores(b) {
    const orders = [["group", phrase("in_groups")], ["difference", phrase("largest_first")],
      ["score", phrase("highest_first")]];
    const ends = state.options.ends ? " checked" : "";
    return `${heading(phrase("scores"), `${esc(b.name)}. ${b.leads}`)}<form class="tools">
      ${choice("order", phrase("order"), orders, state.options.order ?? "group")}
      <label><input type="checkbox" data-option="ends" value="1"${ends}>
      ${phrase("intervals_as_numbers")}</label>
      <a data-csv download="${b.id}.csv" href="#">${phrase("save_csv")}</a></form>
      ${legend(pinned(b))}${scoresTable(b, pinned(b))}`;
  },

  compare(b) {
    const order = ranked(b).filter((e) => b.datasets.some((d) => D.datasets[d].scores[e]));
    const every = D.pairs.length === (NAMES.length * (NAMES.length - 1)) / 2;
    const firsts = every ? order : order.filter((e) => e === D.pairs[0][0]);
    const asked = (name, among) => among.find((e) => NAMES[e] === state.options[name]) ?? among[0];
    const x = asked("a", firsts);
    const seconds = order.filter((e) => e !== x);
    const y = asked("b", seconds);
    const [p, q] = [bold(NAMES[x]), bold(NAMES[y])];
    const what = phrase(b.probed ? "datasets" : "measures");
    const choose = (name, label, of, among) =>
      choice(name, phrase(label), among.map((e) => [NAMES[e], NAMES[e]]), NAMES[of]);
    const found = b.datasets.map((d) => [d, difference(D.datasets[d].differences, x, y)])
      .filter(([, each]) => each);
    const far = found.map(([, [, low, high]]) => Math.max(-low, high)).sort((s, t) => s - t);
    const most = far[Math.floor(far.length * 0.85)];
    const reach = [100, 200, 400, 600].find((r) => r >= most) ?? 1000;
    const sides = [q, p].map((name) => `<span>${phrase("ahead", { name })}</span>`).join("");
    const differences = (title, of, rows, above = "") => table("stack paired", title, [
      [of],
      drawn(`${vh(phrase("drawn"))}<span class="sides">${above}</span>`, around(reach)),
      [phrase("difference"), "n"], [cap("interval"), "n"],
    ], rows.filter(([, each]) => each).map(([name, each]) => row(name, [
      [forest(each, reach), "plot"],
      [`<span class="score ${each[3] ? "weak" : ""}">${signed(each[0])}</span>`, "n"],
      [range(each, signed), "n quiet"],
    ])).join(""));
    const all = `<b>${phrase("all_of", { name: esc(b.name) })}</b>`;
    const groups = b.means.slice(0, b.groups.length > 1 ? undefined : 1).map((column, n) =>
      [n ? esc(b.groups[n - 1][1]) : all, difference(column[2], x, y)]);
    const part = (title, rows, most = 12) => rows.length ? folded(
      `${title} <small>${phrase("some_of",
        { some: rows.length, count: found.length, what })}</small>`, differences(
        title.replace(/<[^>]*>/g, ""), phrase("dataset"),
        rows.sort(([, s], [, t]) => Math.abs(t[0]) - Math.abs(s[0]))
          .map(([d, each]) => [toDataset(d, whole(b, D.datasets[d])), each])),
      rows.length <= most) : "";
    const up = found.filter(([, each]) => !each[3] && each[0] > 0);
    const down = found.filter(([, each]) => !each[3] && each[0] < 0);
    const tied = found.filter(([, each]) => each[3]);
    return `${heading(phrase("compare"), phrase("compare_lead", { name: esc(b.name) }))}
      <form class="tools">${choose("a", "compare_one", x, firsts)}
      ${choose("b", "compare_with", y, seconds)}</form>
      <p class="result">${phrase(up.length + down.length ? "compared" : "compared_none", { p, q,
        what, up: up.length, down: down.length, tied: tied.length, count: found.length })}</p>
      ${groups.length ? differences(phrase("by_group"), phrase("group"), groups, sides) : ""}
      ${part(phrase("ahead", { name: p }), up)}${part(phrase("ahead", { name: q }), down)}
      ${part(phrase("tied"), tied, found.length <= 12 ? 12 : 0)}
      <p class="under">${phrase("compare_marks")} ${every ? "" : phrase("first_pairs")}</p>`;
  },

  added(b) {
    const having = NAMES.map((_, e) => e).filter((e) => b.added[e]);
    const shown = pinnedOf(b, having);
    const of = having.find((e) => NAMES[e] === state.options.added) ?? shown[0];
    const twin = D.random[of];
    const setsOf = (e) => b.datasets.filter((d) => D.datasets[d].added[e]);
    const body = grouped({ ...b, datasets: setsOf(of) }, 7, (d) => {
      const it = D.datasets[d];
      const [curve, ...cells] = [it.added[of].at(-1), ...it.added[of].slice(0, -1)];
      return row(toDataset(d, it.name), [
        [score(it.scores[of], it.marks[of], false), "n", phrase("score")],
        ...(twin == null ? [] : [[points(it.scores[twin]?.[0]), "n quiet rows"]]),
        ...ADDED.map(([key, write, least, kind], n) => [cells[n]
          ? `<span title="${range(cells[n], write)}">${write(cells[n][0])}</span>` : "–",
        `n ${kind} ${cells[n] && cells[n][1] <= least ? "weak" : ""}`, phrase(key)]),
        [learningCurve([curve], [Math.max(0, shown.indexOf(of))], "strip"), "plot rows"]]);
    }, () => "");
    const dots = shown.flatMap((e) => setsOf(e).map((d) => D.datasets[d])
      .filter((it) => it.added[e][0])
      .map((it) => [it.scores[e][0], it.added[e][0][0], e, whole(b, it)]));
    const columns = [[phrase("score"), "n"],
      ...(twin == null ? [] : [[esc(NAMES[twin]), "n rows"]]),
      ...ADDED.map(([key, , , kind]) => [phrase(key), `n ${kind}`]),
      [phrase("curve"), "rows"]];
    return `${heading(phrase("added"), `${esc(b.name)}. ${phrase("added_lead")}`)}
      <p class="result">${shown.map((e) => esc(b.added[e])).join("<br>")}</p>
      ${legend(shown, { explain: false })}
      ${dots.length ? scatter(dots, phrase("score"), phrase("selectivity"), shown) : ""}
      <form class="tools">${choice("added", phrase("encoder"),
        having.map((e) => [NAMES[e], NAMES[e]]), NAMES[of])}</form>
      ${table("stack", phrase("added"), [[phrase("dataset")], ...columns], body)}
      <p class="under">${phrase("added_marks")}</p>`;
  },

  layers(b) {
    const having = b.layers.map(({ encoder }) => encoder);
    const shown = pinnedOf(b, having);
    const profiles = shown.map((e) => b.layers[having.indexOf(e)]);
    const coded = state.options.as && profiles.every((each) => each.compression);
    const charts = b.groups.map(([key, name]) => layerChart(b, key, name, profiles, coded));
    const choose = profiles.some((each) => each.compression) ? `<form class="tools">${choice("as",
      phrase("measure"), [["", phrase("score")], ["code", phrase("compression")]],
      state.options.as ?? "")}</form>` : "";
    const heat = b.layers.find((p) => NAMES[p.encoder] === state.options.layers) ?? profiles[0];
    const told = profiles.map((p) => `${bold(NAMES[p.encoder])}: ${esc(p.told)}`).join(" ");
    const options = having.map((e) => [NAMES[e], NAMES[e]]);
    return `${heading(phrase("layers"), `${esc(b.name)}. ${phrase("layers_lead")}`)}
      <p class="result">${told}</p>${choose}${legend(shown, { explain: false })}
      <div class="charts">${charts.join("")}</div>
      ${folded(phrase("layers_of_one"), `<form class="tools">
      ${choice("layers", phrase("encoder"), options, NAMES[heat.encoder])}</form>
      ${heatmap(b, heat)}<p class="under">${phrase("layers_marks")}</p>`, state.options.layers)}`;
  },

  languages() {
    const shown = pinned(null);
    const cell = (values) => {
      if (!values.some(([, value]) => value)) return "–";
      return values.map(([e, value, quiet]) => `<span class="pair${quiet ? " quiet" : ""}">
        ${swatch(e, shown)}${vh(esc(NAMES[e]))} ${points(value?.[0])}</span>`).join(" ");
    };
    const legends = legend(shown, { explain: false });
    const { columns, tasks, averaged, counted, means: all, baselines } = D.languages;
    const body = tasks.map((task) => row(
      `${esc(task.name)}<small>${esc(task.measure)}</small>`,
      columns.map((_, column) => [cell(shown.filter((e) => task.scores[e]).map((e) =>
        [e, task.scores[e][column], task.different.includes(column)])), "n"]),
    ));
    const head = (names) => [[phrase("task")], ...names.map((name) => [esc(name), "n"])];
    const mean = averaged.length && counted > 1 ? `<h3>${phrase("languages_mean")}
      <small>${counted}</small></h3>
      ${table("stack pairs", phrase("mean"), head(averaged), row(phrase("mean"), averaged.map(
        (name, n) => [cell(shown.map((e) => [e, all[e][n]])), "n", name])) + row(
        `<em>${phrase("trivial_baseline")}</em>`,
        baselines.map((floor, n) => [points(floor), "n", averaged[n]]), "base"))}` : "";
    return `${heading(phrase("languages"), phrase("languages_lead", { count: columns.length }))}
      ${legends}${mean}<h3>${phrase("languages_tasks")}</h3>
      ${table("wide", phrase("languages_tasks"), head(columns), body.join(""))}
      ${tasks.some((each) => each.different.length)
        ? `<p class="under">${phrase("different")}</p>` : ""}`;
  },

  predict(b) {
    const [goal, found] = D.predict.targets[b?.id ?? "all"];
    const order = D.predict.measures.map((_, n) => n).filter((n) => found[n])
      .sort((x, y) => Math.abs(found[y][0]) - Math.abs(found[x][0]));
    const chosen = order.find((n) => D.predict.measures[n][0] === state.options.measure)
      ?? order[0];
    const sure = order.filter((n) => found[n][1] > 0 || found[n][2] < 0).length;
    const what = phrase("mean_of", { name: esc(b?.name ?? phrase("all_tasks")) });
    const lines = order.slice(0, state.options.all ? undefined : 12).map((n) => {
      const name = D.predict.measures[n][0];
      const clear = found[n][1] > 0 || found[n][2] < 0;
      const each = [found[n][0], found[n][1] ?? found[n][0], found[n][2] ?? found[n][0], !clear];
      return row(link(address({ measure: name }), esc(name)), [
        [forest(each, 1000), "plot"],
        [`<span class="score ${clear ? "" : "weak"}">${points(found[n][0])}</span>`, "n"],
        [found[n][1] == null ? "–" : range(found[n], signed), "n quiet"]]);
    });
    return `${heading(phrase("predict"), phrase("predict_lead", { what }))}
      <p class="result">${phrase("predicts", { some: sure, count: order.length, what })}</p>
      ${legend(pinned(b), { explain: false })}
      ${scatter(D.predict.measures[chosen][1].map((x, e) => [x, goal[e], e, `${x}`])
        .filter(([x, y]) => x != null && y != null), D.predict.measures[chosen][0], what,
        pinned(b))}
      ${table("stack paired", phrase("predict"), [[phrase("measure")],
        drawn(vh(phrase("drawn")), around(1000)), ["Spearman × 100", "n"], [cap("interval"), "n"],
      ], lines.join(""))}${showAll(order, lines)}
      <p class="under">${phrase("predict_marks")}</p>`;
  },

  table_1() {
    const [tests, scores, correlations] = D.table_1;
    const by = (rows, key) => Map.groupBy(rows, (each) => each[key]);
    const cell = (each) => [each ? points(Math.round(1000 * each.value)) : "", "n"];
    const head = (first, of) => [[first], ...of.map((test) => [esc(test), "n"])];
    const body = [...by(scores, "encoder")].map(([name, rows]) => {
      const [reported, of] = [rows[0].kind === "reported", by(rows, "test")];
      return row(reported ? `<em>${esc(name)}</em>` : esc(name),
        tests.map((test) => cell(of.get(test)?.[0])), reported ? "base" : "");
    });
    const agree = [...by(correlations, "over")].map(([over, rows]) => {
      const of = by(rows, "score");
      const lines = tests.slice(0, -1).map((one) => row(esc(one), tests.slice(1).map((other) =>
        cell(of.get(one)?.find((each) => each.tasks === other)))));
      return `<h3>${phrase("tests_agree", { over: `${esc(over)}, ${esc(rows[0].note)}` })}</h3>
        ${table("narrow", esc(over), head(phrase("test"), tests.slice(1)), lines.join(""))}`;
    });
    return `${heading(phrase("table_1"), phrase("about_table_1"))}
      ${table("narrow", phrase("table_1"), head(phrase("encoder"), tests), body.join(""))}
      ${agree.join("")}<p class="under">${phrase("about_agreement")}</p>`;
  },

  data(b) {
    if (state.dataset) return datasetPage(b, state.dataset);
    const has = (it, verdict) => it.audit.some(([, , found]) => found === verdict);
    const lead = phrase("audit_lead", { checks: D.checks });
    if (!b) {
      const found = ["surface", "inherited", "new_faults"].filter((verdict) =>
        Object.values(D.datasets).some((it) => has(it, verdict)));
      const body = D.benchmarks.map((of) => {
        const keyed = of.datasets.map((d) => [D.datasets[d].key, D.datasets[d]]);
        const all = [...new Map(keyed).values()];
        const counts = [all, ...found.map((verdict) => all.filter((it) => has(it, verdict))),
          all.filter((it) => !it.audit.length)];
        return row(link(address({ benchmark: of }), esc(of.name)),
          counts.map(({ length }) => [length || "–", "n"]));
      });
      return `${heading(phrase("data"), `${lead} ${D.audited}`)}
        ${table("narrow", phrase("data"), [[phrase("benchmark")], [cap("datasets"), "n"],
          ...found.map((verdict) => [phrase(verdict), "n"]), [phrase("nothing_found"), "n"],
        ], body.join(""))}`;
    }
    const flags = (it) => [...new Set(it.audit.map(([words]) => words)),
      ...(it.small ? [phrase("in_no_mean")] : [])]
      .map((words) => `<span class="flag">${words}</span>`).join(" ")
      || `<span class="quiet">${phrase("nothing_found")}</span>`;
    const body = grouped(b, 5, (d) => {
      const it = D.datasets[d];
      return row(toDataset(d, it.name), [[number(it.rows), "n rows"],
        [points(it.chance), "n quiet rows"], [shows(it.detectable), "n rows"],
        [flags(it), "says"]]);
    });
    return `${heading(phrase("data"), `${esc(b.name)}. ${lead} ${b.audited}`)}
      ${table("stack", phrase("data"), [[phrase("dataset")], [phrase("rows_tested"), "n rows"],
        [phrase("chance"), "n rows"], [phrase("detectable"), "n rows"], [phrase("audit")]], body)}`;
  },

  about(b) {
    const { verified, refused, left_out: left, missing, folder, differs: every } = D.about;
    const differs = b ? every.filter(([, of]) => b.datasets.some((d) =>
      of.includes(D.datasets[d].key) || !D.datasets[of[0]])) : every;
    const part = (title, rows, lead = "") => rows.length ? `<h3>${title}</h3>
      ${lead && `<p>${lead}</p>`}${pairs(rows.map((each) => each.map(esc)))}` : "";
    const shown = state.options.all ? D.encoders : D.encoders.slice(0, MOST);
    const terms = [["score", "about_score"], ["mean", "about_mean"], ["interval", "about_interval"],
      ["trivial_baseline", "about_trivial"], ["tied", "about_tied"],
      ["detectable", "about_detectable"]];
    return `${heading(phrase("about"))}
      ${verified ? `<h3>${phrase("verified")}</h3><p>${esc(verified)}</p>` : ""}
      ${part(phrase("refused"), refused)}${part(phrase("left_out"), left,
        phrase("left_out_folder", { folder: esc(folder) }))}${part(phrase("missing"), missing)}
      ${folded(`${phrase("encoders")} <small>${D.encoders.length}</small>`,
        pairs(shown.map((each) => each.map(esc)))
          + showAll(D.encoders, shown), D.encoders.length <= FEW)}
      <h3>${phrase("how_to_read")}</h3>
      ${pairs(terms.map((each) => each.map(cap)))}
      <h3>${phrase("files")}</h3><p>${phrase("about_files")}</p>
      ${differs.length ? folded(`${phrase("differs")} <small>${differs.length}</small>`,
        pairs(differs.map(([text, of]) => [
          esc(of.slice(0, 8).join(", ") + (of.length > 8 ? " …" : "")),
          `<span lang="en">${esc(text)}</span>`]))) : ""}`;
  },
};

/* Parts of chapters. */

function means(b, shown) {
  const by = b.means[state.options.by] ? Number(state.options.by) : 0;
  const order = ranked(b, by);
  const lines = cut(order, shown);
  const groups = b.groups.length > 1 ? b.groups.map((_, n) => n + 1) : [];
  const columns = [0, ...groups];
  const title = (column) => (column ? esc(b.groups[column - 1][1]) : phrase("mean"));
  const sorted = (column) => {
    if (order.length <= FEW) return title(column);
    if (column === by) return `<b>${title(column)}&nbsp;↓</b>`;
    return link(address({ by: column || "" }), title(column), `by${column}`);
  };
  const ends = scale(cellsOf(b, by), floorOf(b, by));
  const withRank = ([mean, ...others], rank) => // of three encoders or more
    [mean, ...(b.ranks ? [[rank || "–", "n quiet rank"]] : []), ...others];
  const choose = (e) => order.length > FEW ? `<label class="pin"><input type="checkbox"
    data-pin="${e}"${shown.includes(e) ? " checked" : ""}>${named(e, shown)}</label>`
    : named(e, shown);
  const body = lines.map((e) => row(choose(e),
    [[strip(cellsOf(b, by), b.means[by][1], floorOf(b, by), [e],
      { slots: shown, others: false, ends, people: b.means[by][4] }), "plot"],
    ...withRank(columns.map((column) => [score(cellsOf(b, column)[e], b.means[column][1][e],
      !column || groups.length < 4), "n"]), b.ranks?.[e])],
  ));
  const base = (name, values) =>
    row(`<em>${name}</em>`, [["", "plot"],
      ...withRank(values.map((value) => [points(value), "n"]), " ")], "base");
  body.push(base(phrase("trivial_baseline"), columns.map((column) => floorOf(b, column))));
  if (b.means[0][4]) body.push(base(phrase("people"), columns.map((n) => b.means[n][4])));
  const count = phrase("mean_of_some",
    { count: b.datasets.filter((d) => !D.datasets[d].small).length });
  const head = [[phrase("encoder")], drawn(by ? title(by) : count, axis(ends)),
    ...withRank(columns.map((column) => [sorted(column), "n"]), phrase("rank"))];
  const pins = order.length > FEW ? `<p class="under">${phrase("pins", { few: FEW })}</p>` : "";
  return table("wide", phrase("encoders"), head, body.join("")) + pins
    + showAll(order, lines);
}

// The lines of datasets under their groups; `head` may write the line of a group itself.
function grouped(b, width, write, head) {
  const low = wide() && pinned(b).length < 3; // lines with few encoders
  const closed = (state.options.fold ?? (low ? "" : b.groups.map(([key]) => key).join()))
    .split(",").filter(Boolean);
  return b.groups.map(([key, name, correlation]) => {
    const own = b.datasets.filter((d) => D.datasets[d].group === key);
    if (!own.length) return "";
    const folds = head && b.datasets.length > (wide() ? LONG : LONG / 2) && own.length > 1;
    const open = !folds || !closed.includes(key);
    const others = closed.filter((each) => each !== key);
    const fold = (open ? [...others, key] : others).join() || "none";
    const button = link(address({ fold }), `${open ? "▾" : "▸"} ${esc(name)}`, key)
      .replace("<a", `<a aria-expanded="${open}"`);
    const about = [own.length > 1 && phrase("many_datasets", { count: own.length }),
      correlation && phrase("correlation")].filter(Boolean).join(", ");
    const title = `${folds ? button : esc(name)} <small>${about}</small>`;
    const first = (own.length > 1 && head?.(key, title)) || `<tr role="row" class="group">
      <th role="rowheader" scope="rowgroup" colspan="${width}">${title}</th></tr>`;
    return first + (open ? own.map(write).join("") : "");
  }).join("");
}

function scoresTable(b, shown) {
  const values = (cells, marks, floor, people) => [
    [strip(cells, marks, floor, shown, { people }), "plot"],
    ...shown.map((e) => [swatch(e, shown) + score(cells[e], marks[e]), "n"]),
  ];
  const write = (d) => {
    const it = D.datasets[d];
    const [floor] = it.baseline;
    return row(toDataset(d, it.name), [...values(it.scores, it.marks, floor, it.people?.[0]),
      [points(floor), "n quiet rows"], [number(it.rows), "n quiet rows"]]);
  };
  const head = (key, title) => {
    const column = b.groups.findIndex(([of]) => of === key) + 1;
    if (!b.means.length || !cellsOf(b, column).some(Boolean)) return "";
    const [cells, marks, , floor, people] = b.means[column];
    return row(title, [...values(cells, marks, floor, people),
      [points(floor), "n quiet rows"], ["", "n rows"]], "group");
  };
  const order = {
    difference: (d) =>
      -Math.abs(difference(D.datasets[d].differences, shown[0], shown[1])?.[0] ?? 0),
    score: (d) => -Math.max(...shown.map((e) => D.datasets[d].scores[e]?.[0] ?? -1000)),
  }[state.options.order];
  const body = order
    ? [...b.datasets].sort((x, y) => order(x) - order(y)).map(write).join("")
    : grouped(b, shown.length + 4, write, head);
  return table("stack", phrase("scores"), [[phrase("dataset")], drawn(phrase("score"), axis()),
    ...shown.map((e) => [swatch(e, shown) + esc(NAMES[e]), "n"]),
    [cap("trivial_baseline"), "n rows"], [phrase("rows"), "n rows"]], body);
}

// A line for each encoder: the mean of a group's datasets by layer, the best layer as a dot.
function layerChart(b, key, name, profiles, coded) {
  const write = coded ? bits : points;
  const series = profiles.map((profile) => {
    const own = profile.datasets.map((d, n) => (D.datasets[d].group === key ? n : -1))
      .filter((n) => n >= 0);
    const all = profile[coded ? "compression" : "values"];
    return own.length ? all.slice(0, profile.numbered).map((values) =>
      average(own.map((n) => values[n]))) : [];
  });
  const all = series.flat();
  if (!all.length) return "";
  const low = Math.floor(Math.min(...all) / 50) * 50;
  const high = Math.ceil(Math.max(...all) / 50) * 50;
  const x = (n, count) => 2 + (96 * n) / Math.max(1, count - 1);
  const y = (value) => 92 - (84 * (value - low)) / Math.max(1, high - low);
  const lines = series.map((values, slot) => values.length ? `<polyline class="curve e${slot}"
    points="${values.map((v, n) => `${x(n, values.length)},${y(v)}`).join(" ")}"/>` : "");
  const dots = series.map((values, slot) => {
    const best = values.indexOf(Math.max(...values));
    return values.length ? `<svg x="${x(best, values.length)}%" y="${y(values[best])}%"
      overflow="visible">${shape(slot, 0, 0)}</svg>` : "";
  });
  const said = profiles.map((profile, slot) => series[slot].length ? `${NAMES[profile.encoder]}:
    ${profile.rows[series[slot].indexOf(Math.max(...series[slot]))]}` : "").join(", ");
  return `<figure>
    <figcaption>${esc(name)} <small>${write(low)} – ${write(high)}</small></figcaption>
    <svg class="chart" role="img" aria-label="${phrase("best_layers")} ${esc(said)}">
    <svg viewBox="0 0 100 100" preserveAspectRatio="none">${lines.join("")}</svg>${dots.join("")}
    </svg></figure>`;
}

function heatmap(b, profile) {
  const { rows, numbered, datasets, values } = profile;
  const body = grouped({ ...b, datasets }, 4, (d) => {
    const column = values.map((each) => each[datasets.indexOf(d)]);
    const own = column.slice(0, numbered);
    const mean = average(own);
    const far = Math.max(...own.map((value) => Math.abs(value - mean)), 1);
    const best = own.indexOf(Math.max(...own));
    const boxes = column.map((value, n) => {
      const share = Math.max(-1, Math.min(1, (value - mean) / far));
      const kind = `${share < 0 ? "e1" : "e0"}${n === best ? " framed" : ""}`;
      return `<i class="${kind}" style="--s:${Math.abs(share).toFixed(2)}"
        title="${esc(rows[n])}: ${points(value)}"></i>`;
    });
    return row(toDataset(d, D.datasets[d].name), [
      [`<span class="heat" aria-hidden="true">${boxes.join("")}</span>`, "plot"],
      [esc(rows[best]), "n"], [points(own[best]), "n"]]);
  });
  return table("stack", phrase("layers"), [[phrase("dataset")],
    drawn(`${phrase("layer")} ${esc(rows[0])} – ${esc(rows.at(-1))}`, ""),
    [phrase("best_layer"), "n"], [phrase("score"), "n"]], body);
}

// Points [x, y, encoder, what], each coordinate on a scale that fits.
function scatter(all, across, up, shown) {
  const ends = [0, 1].map((n) => extent(all.map((each) => each[n])));
  const place = (n, value) => 5 + (90 * (value - ends[n][0])) / (ends[n][1] - ends[n][0] || 1);
  const zero = ends[1][0] < 0 && ends[1][1] > 0
    ? line("zero", "0%", "100%", `${100 - place(1, 0)}%`) : "";
  const dots = all.map(([x, y, e, what]) => `<svg x="${place(0, x)}%" y="${100 - place(1, y)}%"
    overflow="visible">${shape(shown.includes(e) ? shown.indexOf(e) : 9, 0, 0)}
    <title>${esc(NAMES[e])}: ${esc(what)}, ${points(y)}</title></svg>`);
  return `<figure class="scatter"><figcaption>↑ ${esc(up)} <small>${ends[1].map(points)
    .join(" – ")}</small></figcaption>
    <svg class="chart" aria-hidden="true">${zero}${dots.join("")}</svg>
    <p class="under">→ ${esc(across)}</p></figure>`;
}

// Curves of [rows, score], with the rows on a logarithmic scale; each has a slot.
function learningCurve(curves, slots, kind = "chart") {
  const all = curves.flat();
  if (!all.length) return "";
  const [[left, right], [low, high]] = [0, 1].map((n) => extent(all.map((each) => each[n])));
  const x = (rows) => 2 + (96 * Math.log(rows / left)) / (Math.log(right / left) || 1);
  const y = (value) => 92 - (84 * (value - low)) / (high - low || 1);
  const lines = curves.map((curve, n) => `<polyline class="curve e${slots[n]}" points="${
    curve.map(([rows, value]) => `${x(rows)},${y(value)}`).join(" ")}"/>`);
  return `<svg class="${kind}" height="22" viewBox="0 0 100 100" preserveAspectRatio="none"
    role="img" aria-label="${phrase("curve")}: ${points(low)} – ${points(high)}">${
    lines.join("")}</svg>`;
}

/* A dataset. */

function instance([texts, gold, remark, answers], it, shown) {
  const label = (answer) => (it.labels.length ? esc(it.labels[answer]) : `${answer[0].toFixed(2)
    .replace("-", "−")}</b> <small>${phrase("above", { share: answer[2] })}</small><b>`);
  const said = shown.filter((e) => answers[e] != null).map((e) => {
    const bad = it.labels.length ? answers[e] !== answers.at(-1) : answers[e][1];
    const word = phrase(it.correlation ? (bad ? "far" : "near") : bad ? "wrong" : "right");
    return `<li>${swatch(e, shown)}${esc(NAMES[e])}: <b>${label(answers[e])}</b>
      <span class="${bad ? "wrong" : "quiet"}">${bad ? "✗" : "✓"} ${word}</span></li>`;
  });
  const text = ([content, marked]) =>
    `<li dir="auto"${marked ? ` class="marked"` : ""}>${esc(content)}</li>`;
  return `<div class="card">
    <ol lang="${esc(it.language)}">${texts.map(text).join("")}</ol>
    <p>${phrase(it.correlation ? "score_by_people" : "right_answer")}:
    <b>${esc(gold)}</b>${remark ? ` <small>${esc(remark)}</small>` : ""}</p>
    ${said.length ? `<ul>${said.join("")}</ul>` : ""}</div>`;
}

function datasetPage(b, key) {
  const it = D.datasets[key];
  const shown = pinned(b);
  const [floor, by] = it.baseline;
  const order = NAMES.map((_, e) => e).filter((e) => it.scores[e])
    .sort((x, y) => it.scores[y][0] - it.scores[x][0]);
  const lines = cut(order, shown);
  const facts = [
    ["rows_tested", it.rows && number(it.rows) + (it.folds ? `, ${phrase("folds", it)}` : "")],
    ["chance", it.chance != null && points(it.chance)],
    ["trivial_baseline", `${points(floor)} (${esc(by)})`],
    ["people", it.people && `${points(it.people[0])} <small>${range(it.people)}</small>`],
    ["detectable", it.detectable != null && shows(it.detectable)],
    ["in_papers", esc(it.papers ?? "")],
    ["texts_from", esc(it.source)],
    ["name_in_files", `<code>${esc(it.key)}</code>`],
  ].filter(([, text]) => text).map(([of, text]) =>
    `<div><dt>${cap(of)}</dt><dd>${text}</dd></div>`).join("");
  const body = lines.map((e) => row(named(e, shown), [
    [strip(it.scores, it.marks, floor, [e],
      { slots: shown, others: false, people: it.people?.[0] }), "plot"],
    [score(it.scores[e], it.marks[e], false), "n"],
    [it.scores[e][1] == null ? "" : range(it.scores[e]), "n quiet"],
    ...it.more.map(([name, values]) => [values[e], "n", name]),
  ]));
  body.push(row(`<em>${phrase("trivial_baseline")}</em>`, [["", "plot"], [points(floor), "n"],
    [esc(by), "n"], ...it.more.map(() => [""])], "base"));
  const curved = order.filter((e) => shown.includes(e) && it.added?.[e]?.at(-1).length);
  const curve = learningCurve(curved.map((e) => it.added[e].at(-1)),
    curved.map((e) => shown.indexOf(e)));
  const head = [[phrase("encoder")], drawn(vh(phrase("drawn")), axis()), [phrase("score"), "n"],
    [cap("interval"), "n"], ...it.more.map(([name]) => [name, "n"])];
  const others = (it.others ?? []).map(([name, value]) => `${esc(name)} ${points(value)}`);
  const audit = it.audit.map(([words, told]) =>
    `<li><span class="flag">${words}</span> ${esc(told)}</li>`);
  const [first, ...rest] = order.filter((e) => shown.includes(e));
  const compared = rest.map((e) => [e, difference(it.differences, first, e)])
    .filter(([, each]) => each).map(([e, each]) => `<p>${phrase("compared_here", {
      p: bold(NAMES[first]), q: bold(NAMES[e]), difference: signed(each[0]),
      range: range(each, signed), said: phrase(each[3] ? "not_clear" : "clear") })}</p>`);
  const differs = D.about.differs.filter(([, of]) => of.includes(it.key));
  const place = b.datasets.indexOf(key);
  const step = (by_, write) => {
    const other = b.datasets[place + by_];
    return other ? link(address({ dataset: other }), write(esc(whole(b, D.datasets[other]))))
      : "<span></span>";
  };
  const rows = it.rows_shown ?? [];
  return `<p class="under">${link(address(), phrase("data_of", { name: esc(b.name) }))}</p>
    ${heading(esc(whole(b, it)), esc(it.question))}
    <div class="${rows.length ? "two" : ""}">${rows.length ? `<div><h3>${phrase("one_row")}</h3>
    ${instance([...rows[0].slice(0, 3), []], it, [])}</div>` : ""}
    <div><h3>${phrase("in_numbers")}</h3><dl class="plain">${facts}</dl>
    ${it.remarks.map((text) => `<p class="under">${esc(text)}</p>`).join("")}</div></div>
    <h3>${phrase("scores")}</h3>${legend(shown)}
    ${table("stack", phrase("scores"), head, body.join(""))}${showAll(order, lines)}
    ${compared.join("")}
    ${curve && `<figure><figcaption>${phrase("curve")}</figcaption>${curve}</figure>`}
    ${others.length ? `<p class="under">${phrase("other_answers")}: ${others.join(", ")}.
      ${phrase("about_others")}</p>` : ""}
    <h3>${phrase("audit")}</h3>
    ${audit.length ? `<ul class="facts">${audit.join("")}</ul>`
      : `<p>${phrase("nothing_found")}.</p>`}
    ${it.published ? folded(phrase("published_rows"), `<p lang="en">${esc(it.published)}</p>`) : ""}
    ${differs.length ? folded(phrase("differs"),
      differs.map(([text]) => `<p lang="en">${esc(text)}</p>`).join("")) : ""}
    ${cites(it.cited, it.scores, shown)}
    ${folded(phrase("load"), `<pre><code>${esc(it.load)}</code></pre>`)}
    ${rows.length ? folded(`${phrase("answered")} <small>${phrase("some_rows",
      { some: rows.length, count: number(it.rows) })}</small>`, `${it.correlation
      ? `<p class="under">${phrase("answers_as_ranks")}</p>` : ""}<div class="cards">
      ${rows.map((each) => instance(each, it, shown)).join("")}</div>`, state.options.rows) : ""}
    <p class="steps">${step(-1, (name) => `← ${name}`)}${step(1, (name) => `${name} →`)}</p>`;
}

/* The frame. */

function frame() {
  const { benchmark: b, chapter } = state;
  const to = (each) =>
    address({ benchmark: each, chapter: chapters(each).includes(chapter) ? chapter : "overview" });
  const places = PLACES.map((each) => [to(each), nameOf(each), each === b, each?.counted]);
  const parts = chapters(b).map((key) => [address({ chapter: key }), phrase(key), key === chapter]);
  const links = (items, kind) => `<ul>${items.map(([place, text, here, more]) => `<li><a
    href="${place}"${here ? ` aria-current="${kind}"` : ""}>${text}
    <small>${more ?? ""}</small></a></li>`).join("")}</ul>`;
  const select = (kind, items) => `<label class="${kind}">${vh(phrase(kind))}<select data-go>
    ${items.map(([place, text, here]) => `<option value="${place}"${here ? " selected" : ""}>${text}
    </option>`).join("")}</select></label>`;
  $("rail").innerHTML = `<p>${phrase("benchmark")}<small>${phrase("datasets")}</small></p>
    ${links(places, "true")}`;
  $("bar").innerHTML = select("benchmark", places) + select("chapter", parts)
    + links(parts, "page");
}
const view = () => !state.benchmark && state.chapter === "overview"
  ? SHOW.all() : SHOW[state.chapter](state.benchmark);
function hints() { // a table that is wider than its place says so
  for (const box of document.querySelectorAll(".scroll")) {
    const over = box.scrollWidth > box.clientWidth + 1;
    box.classList.toggle("over", over);
    box.tabIndex = over ? 0 : -1;
  }
}
function show(event) {
  read();
  frame();
  $("main").innerHTML = view();
  document.body.classList.toggle("with-ends", Boolean(state.options.ends));
  const { benchmark, chapter, dataset } = state;
  const title = [dataset && D.datasets[dataset].name, chapter !== "overview" && phrase(chapter),
    benchmark?.name ?? phrase("all_benchmarks"), "Probeta"];
  document.title = title.filter(Boolean).join(" · ");
  hints();
  if (event && kept !== location.hash) { // a new place, not a changed option
    scrollTo(0, Math.min(scrollY, document.querySelector("header").offsetHeight));
    $("title").focus({ preventScroll: true });
  }
  kept = null;
}
function keep(place) {
  const [[key, value] = []] = Object.entries(document.activeElement?.dataset ?? {});
  history.replaceState(null, "", place);
  kept = location.hash;
  show(true);
  if (key) document.querySelector(`[data-${key}="${CSS.escape(value)}"]`)?.focus();
}
const option = (changes) => keep(address({ dataset: state.dataset, ...changes }));
function scoresAsCsv(b) {
  const quote = (value) => `"${String(value).replaceAll('"', '""')}"`;
  const rows = [["dataset", "group", "encoder", "score", "low", "high", "baseline",
    ...ADDED.map(([key]) => key)]];
  for (const d of b.datasets)
    D.datasets[d].scores.forEach((cell, e) => cell && rows.push([
      d, groupOf(b, D.datasets[d]), NAMES[e], ...cell.map((v) => v / 10),
      D.datasets[d].baseline[0] / 10, ...ADDED.map((_, n) => D.datasets[d].added?.[e]?.[n])
        .map((of, n) => (of ? of[0] / (n ? 1000 : 10) : ""))]));
  const text = rows.map((each) => each.map(quote).join(",") + "\n").join("");
  return URL.createObjectURL(new Blob([text], { type: "text/csv" }));
}
document.addEventListener("change", ({ target }) => {
  const { option: name, pin, go } = target.dataset;
  if (go !== undefined) location.hash = target.value;
  if (name) {
    const value = target.type === "checkbox" && !target.checked ? "" : target.value;
    option({ [name]: value });
  }
  if (pin) {
    const boxes = [...document.querySelectorAll("[data-pin]:checked")];
    const others = boxes.filter((box) => box !== target).slice(0, FEW - 1);
    const chosen = target.checked ? [...others, target] : others;
    option({ pin: chosen.map((box) => NAMES[box.dataset.pin]).join(",") });
  }
});
document.addEventListener("click", (event) => {
  const { target } = event;
  if (target.dataset.csv !== undefined) target.href = scoresAsCsv(state.benchmark);
  if (target.id !== "skip" && !target.dataset.keep) return;
  event.preventDefault();
  if (target.id === "skip") $("main").focus();
  else keep(target.hash);
});
addEventListener("hashchange", show);
addEventListener("resize", hints);
show();
