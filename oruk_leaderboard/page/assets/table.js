// The table: the rows come with the page; here they are filtered, sorted and ranked anew by view.

const YOURS = "yours";
const board = byId("board");
const CELLS = new Map([...board.querySelectorAll("tr[data-key]")].map((tr) => [tr.dataset.key, tr]));

const makeRow = (row) => {
  const tr = byId("row-template").content.firstElementChild.cloneNode(true);
  tr.dataset.key = row.key;
  tr.querySelector(".open").textContent = row.name;
  tr.querySelector(".name-mark").replaceChildren(familyMark(row.family));
  tr.querySelector(".family").replaceChildren(familyMark(row.family), el("span", {}, row.family));
  tr.querySelector(".f1 .figure").textContent = row.macro_f1;
  tr.querySelector(".f1 rect").setAttribute("width", 100 * Number(row.macro_f1));
  tr.querySelector(".acc .figure").textContent = aligned(row.accuracy);
  for (const [css, name, places] of [["acc", "accuracy", 2], ["f1", "macro_f1", 3]]) {
    const pair = intervalOf(row, name);
    tr.querySelector(`.${css} .pm`).textContent = pair ? `±${((pair[1] - pair[0]) / 2).toFixed(places)}` : "";
  }
  tr.querySelector(".out").textContent = row.outside;
  tr.querySelector(".size").textContent = sizeText(row.parameters_m);
  tr.querySelector(".snap").textContent = row.snapshot;
  tr.querySelector(".badges").replaceChildren(
    ...(DATA.why[row.key] || []).map(([text, why], place) =>
      el("span", { class: `badge b-${row.badges[place]}`, title: why }, text)),
  );
  return tr;
};

const cellsOf = (row) => {
  if (!CELLS.has(row.key)) CELLS.set(row.key, makeRow(row));
  return CELLS.get(row.key);
};

const view = () => state.snapshot || "current";

const sizeClass = (millions) => {
  if (typeof millions !== "number") return "u";
  if (millions <= 100) return "s";
  return millions <= 1000 ? "m" : "l";
};

const matches = (row) => {
  const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  const text = [row.name, row.id, row.family, row.model_id, row.note].filter(Boolean).join(" ").toLowerCase();
  return (
    words.every((word) => text.includes(word)) &&
    (!state.family.length || state.family.includes(row.family)) &&
    (!state.scored || row.group === state.scored) &&
    (!state.modality || row.modality === state.modality) &&
    (!state.size || sizeClass(row.parameters_m) === state.size) &&
    (!state.training || row.training === state.training)
  );
};

const inView = (row) => row.key === YOURS || view() in row.ranks || (!GROUPS.get(row.group).published && !state.snapshot);

const NUMERIC = new Set(["macro_f1", "accuracy", "parameters_m", "outside"]);

// "26.0 %" sorts by its number; what is unknown comes last both ways, as null does.
const sortValue = (row) => (state.sort !== "outside" ? row[state.sort] : Number.isNaN(parseFloat(row.outside)) ? null : parseFloat(row.outside));

const compareRows = (one, other) => {
  const direction = state.up ? 1 : -1;
  const [a, b] = [sortValue(one), sortValue(other)];
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1; // an unknown value is last both ways
  const order = NUMERIC.has(state.sort) ? Number(a) - Number(b) : -String(a).localeCompare(String(b), "en", { numeric: true });
  return direction * order || Number(other.macro_f1) - Number(one.macro_f1);
};

const shownRows = () => [...ROWS.values()].filter((row) => inView(row) && (row.key === YOURS || matches(row))).sort(compareRows);

const rankText = (row, mixed) => {
  const ranks = row.ranks[view()] || row.ranks.current;
  return ranks ? String(ranks[mixed ? 1 : 0]) : "–";
};

// On a telephone each group shows its first rows until the reader asks for all of them.
const FOLDED_ROWS = 6;
let folded = matchMedia("(max-width: 640px)").matches;

const showTable = () => {
  const rows = shownRows();
  const mixed = state.mixed && !state.scored;
  for (const body of board.tBodies) {
    const own = rows.filter((row) => {
      const published = GROUPS.get(row.group).published;
      if (mixed && published) return body.dataset.group === PUBLISHED[0];
      return row.group === body.dataset.group;
    });
    const head = body.rows[0];
    head.querySelector(".group-title").textContent =
      mixed && body.dataset.group === PUBLISHED[0] ? "Both groups, ranked together" : GROUPS.get(body.dataset.group).title;
    head.querySelector(".group-detail").hidden = mixed && body.dataset.group === PUBLISHED[0];
    body.replaceChildren(head, ...own.map(cellsOf));
    own.forEach((row, place) => cellsOf(row).classList.toggle("beyond", folded && place >= FOLDED_ROWS && row.key !== YOURS));
    body.hidden = !own.length;
    for (const row of own) {
      const tr = cellsOf(row);
      const close = !mixed && (row.close[view()] || []).length > 0;
      tr.querySelector(".rank").replaceChildren(close ? el("span", { class: "close-to", title: "Its interval overlaps with that of another system; see details" }, "≈") : "", rankText(row, mixed));
      tr.classList.toggle("sub", mixed && row.group !== PUBLISHED[0]);
    }
  }
  for (const head of board.tHead.querySelectorAll("th[data-sort]")) {
    if (head.dataset.sort === state.sort) head.setAttribute("aria-sort", state.up !== !NUMERIC.has(state.sort) ? "ascending" : "descending");
    else head.removeAttribute("aria-sort");
  }
  const total = [...ROWS.values()].filter(inView).length;
  byId("count").textContent = rows.length === total ? `${total} results` : `${rows.length} of ${total} results`;
  byId("none").hidden = rows.length > 0;
  const beyond = board.querySelectorAll(".beyond").length;
  byId("more-rows").hidden = !beyond;
  byId("more-rows").textContent = `Show ${beyond} more rows`;
  byId("mixed-warning").hidden = !mixed;
  byId("reset").hidden = !["q", "scored", "modality", "size", "training", "snapshot"].some((name) => state[name]) && !state.family.length;
  markPoints(new Set(rows.map((row) => row.key)));
};

const showTools = () => {
  byId("q").value = state.q;
  for (const id of ["scored", "modality", "size", "training", "snapshot"]) byId(id).value = state[id];
  for (const box of document.querySelectorAll("input[name=family]")) box.checked = state.family.includes(box.value);
  byId("mixed").checked = state.mixed;
};

const CSV_FIELDS = ["name", "family", "accuracy", "macro_f1", "scored_on", "is_oruk", "snapshot", "modality", "parameters_m", "note"];

const download = (kind) => {
  const rows = shownRows().map((row) => Object.fromEntries(CSV_FIELDS.map((name) => [name, row[name] ?? null])));
  if (kind === "json") return save("leaderboard-view.json", "application/json", `${JSON.stringify(rows, null, 1)}\n`);
  const lines = [CSV_FIELDS, ...rows.map((row) => CSV_FIELDS.map((name) => row[name]))];
  return save("leaderboard-view.csv", "text/csv", lines.map((line) => `${line.map(csvCell).join(",")}\n`).join(""));
};

const startTable = () => {
  const tools = byId("tools");
  tools.addEventListener("submit", (event) => event.preventDefault());
  byId("q").addEventListener("input", (event) => change({ q: event.target.value }));
  for (const id of ["scored", "modality", "size", "training", "snapshot"])
    byId(id).addEventListener("change", (event) => change({ [id]: event.target.value }));
  for (const box of document.querySelectorAll("input[name=family]"))
    box.addEventListener("change", () =>
      change({ family: [...document.querySelectorAll("input[name=family]:checked")].map((checked) => checked.value) }));
  byId("mixed").addEventListener("change", (event) => change({ mixed: event.target.checked }));
  byId("reset").addEventListener("click", () => {
    change({ q: "", family: [], scored: "", modality: "", size: "", training: "", snapshot: "" });
    showTools();
    byId("q").focus();
  });
  board.tHead.addEventListener("click", (event) => {
    const head = event.target.closest("th[data-sort]");
    if (head) change({ sort: head.dataset.sort, up: state.sort === head.dataset.sort && !state.up });
  });
  byId("more-rows").addEventListener("click", () => {
    folded = false;
    showTable();
  });
  board.addEventListener("click", (event) => {
    const tr = event.target.closest("tr[data-key]");
    if (tr && !String(getSelection())) openSheet(tr.dataset.key);
  });
  for (const button of document.querySelectorAll("[data-download]"))
    button.addEventListener("click", () => download(button.dataset.download));
};
