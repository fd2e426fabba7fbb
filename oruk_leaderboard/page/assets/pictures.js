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

const showHeat = () => {
  const rows = [...ROWS.values()].filter((row) => row.evaluation && row.evaluation.slices && typeof row.evaluation.slices === "object");
  const tables = ["corpus", "language"].map((kind) => heatTable(kind, rows)).filter(Boolean);
  byId("heat-tables").replaceChildren(...tables);
  byId("heat-text").hidden = tables.length > 0;
};
