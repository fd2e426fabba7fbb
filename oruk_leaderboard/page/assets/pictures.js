// What the pictures do: point, open, fade with the filters, take your result, show heat maps of records that have slices.

const SVG = "http://www.w3.org/2000/svg";
const PLOTS = [...document.querySelectorAll("svg.plot")];

const markPoints = (keys) => {
  for (const point of document.querySelectorAll(".pt[data-key]"))
    point.classList.toggle("off", point.dataset.key !== YOURS && !keys.has(point.dataset.key));
};

const along = (text, value) => {
  const [low, high, log, start, end] = text.split(" ").map(Number);
  const share = log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  return start + Math.max(0, Math.min(1, share)) * (end - start);
};

const showYourPoint = (row) => {
  for (const plot of PLOTS) {
    plot.querySelectorAll(".your-point").forEach((node) => node.remove());
    if (!row) continue;
    const value = plot.closest("#plot-size") ? row.parameters_m : Number(row.accuracy);
    const x = value === null ? Number(plot.dataset.unknown) : along(plot.dataset.x, value);
    const y = along(plot.dataset.y, Number(row.macro_f1));
    const ring = document.createElementNS(SVG, "path");
    const marks = { class: "pt your-point", "data-key": YOURS, d: "M0-9 9 0 0 9-9 0ZM-4 0H4M0-4V4", transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` };
    for (const [name, text] of Object.entries(marks)) ring.setAttribute(name, text);
    ring.dataset.tip = `Your result, ${row.name}: macro-F1 ${row.macro_f1}, accuracy ${row.accuracy} %`;
    plot.append(ring);
  }
};

const startPlots = () => {
  for (const plot of PLOTS) {
    const tip = plot.closest("figure").querySelector(".tip");
    plot.addEventListener("pointerover", (event) => {
      const point = event.target.closest(".pt");
      tip.hidden = !point;
      if (!point) return;
      tip.textContent = point.dataset.tip;
      const [frame, at] = [plot.closest("figure").getBoundingClientRect(), point.getBoundingClientRect()];
      const across = at.left + at.width / 2 - frame.left - tip.offsetWidth / 2;
      tip.style.left = `${Math.max(8, Math.min(frame.width - tip.offsetWidth - 8, across))}px`;
      tip.style.top = `${at.top - frame.top - tip.offsetHeight - 8}px`;
      for (const twin of document.querySelectorAll(".pt")) twin.classList.toggle("near", twin.dataset.key === point.dataset.key);
    });
    plot.addEventListener("pointerleave", () => {
      tip.hidden = true;
      for (const twin of document.querySelectorAll(".pt.near")) twin.classList.remove("near");
    });
    plot.addEventListener("click", (event) => {
      const point = event.target.closest(".pt");
      if (point) openSheet(point.dataset.key);
    });
  }
};

// Slices of a record: {corpus: [{value, n, macro_f1, …}], language: […], …}
const slicesOf = (row, kind) => {
  const slices = row.evaluation.slices[kind];
  return new Map(Array.isArray(slices) ? slices.map((slice) => [String(slice.value), slice]) : []);
};

const heatCell = (slice) => {
  const value = slice ? slice.macro_f1 : null;
  if (typeof value !== "number") return el("td", { class: "heat-none" }, "–");
  const shade = Math.max(0, Math.min(9, Math.floor(value * 10)));
  return el("td", { class: `heat-${shade}`, title: `${slice.n} clips` }, value.toFixed(2));
};

const pairOf = (slice) => {
  const pair = slice.intervals && slice.intervals.macro_f1;
  return Array.isArray(pair) && pair.every(Number.isFinite) ? pair : null;
};

// One system: a bar and its interval per corpus or language, which fills the width that a table of one column would not.
const barTable = (kind, row) => {
  const slices = [...slicesOf(row, kind).values()].filter((slice) => typeof slice.macro_f1 === "number").sort((a, b) => b.macro_f1 - a.macro_f1);
  if (!slices.length) return null;
  const line = (slice) => {
    const pair = pairOf(slice);
    const bar = byId("row-template").content.querySelector(".bar").cloneNode(true);
    bar.querySelector("rect").setAttribute("width", Math.max(0, Math.min(100, 100 * slice.macro_f1)));
    return el("tr", {}, el("th", { scope: "row" }, String(slice.value)), el("td", { class: "share" }, bar),
      el("td", { class: "num" }, slice.macro_f1.toFixed(2)), el("td", { class: "num soft" }, pair ? `${pair[0].toFixed(2)}–${pair[1].toFixed(2)}` : "–"));
  };
  return el("table", { class: "bars" }, el("caption", {}, `Macro-F1 by ${kind}`),
    el("colgroup", {}, el("col", { class: "c-name" }), el("col"), el("col", { class: "c-number" }), el("col", { class: "c-range" })),
    el("thead", { class: "sr" }, el("tr", {}, ...[kind, "bar", "macro-F1", "95 % interval"].map((text) => el("th", { scope: "col" }, text)))),
    el("tbody", {}, ...slices.map(line)));
};

const heatTable = (kind, rows) => {
  const columns = rows.map((row) => [row, slicesOf(row, kind)]).filter(([, slices]) => slices.size);
  const names = [...new Set(columns.flatMap(([, slices]) => [...slices.keys()]))].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  if (!names.length) return null;
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Macro-F1 by ${kind}` },
    el("table", { class: "heat" }, el("caption", {}, `Macro-F1 by ${kind}`),
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, kind), ...columns.map(([row]) => el("th", { scope: "col" }, row.name)))),
      el("tbody", {}, ...names.map((name) =>
        el("tr", {}, el("th", { scope: "row" }, name), ...columns.map(([, slices]) => heatCell(slices.get(name))))))));
};

const NO_SLICES = byId("heat-text").textContent;

const showHeat = () => {
  const rows = [...ROWS.values()].filter((row) => row.evaluation && row.evaluation.slices && typeof row.evaluation.slices === "object");
  const tables = ["corpus", "language"].map((kind) => (rows.length === 1 ? barTable(kind, rows[0]) : heatTable(kind, rows))).filter(Boolean);
  byId("heat-tables").classList.toggle("side", rows.length === 1);
  byId("heat-tables").replaceChildren(...tables);
  byId("heat-text").textContent = tables.length
    ? `${rows.map((row) => row.name).join("; ")}: ${rows.length === 1 ? "macro-F1 over the classes that each corpus or language has, with the 95 % interval of the record" : "macro-F1 over the classes that each corpus or language has"}.`
    : NO_SLICES;
};
