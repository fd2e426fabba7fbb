// The sheet with everything about one row: caveats, figures, source, citation.

const sheet = byId("sheet");

const term = (name, value) => (value === null || value === undefined || value === "" || value === false ? [] : [el("dt", {}, name), el("dd", {}, value)]);

const plain = (value, unknown = null) => (value === null || value === undefined ? unknown : Array.isArray(value) ? value.join(", ") || "none" : String(value));

const rankSentence = (row) => {
  if (row.key === YOURS) return "Your result; not ranked.";
  const own = row.ranks[view()] || row.ranks.current || Object.values(row.ranks)[0];
  const peers = [...ROWS.values()].filter((other) => other.group === row.group && other.key !== YOURS && view() in other.ranks).length;
  const title = GROUPS.get(row.group).title.toLowerCase();
  return own ? `Rank ${own[0]} of ${peers} on the ${title}.` : `Not ranked in this view (${title}).`;
};

const closeLine = (row) => {
  const names = row.close[view()] || [];
  return names.length ? el("p", { class: "quiet" }, `≈ Interval of ${row.macro_f1_interval ? "macro-F1" : "accuracy"} overlaps with: ${names.join(", ")}.`) : null;
};

const failureText = (failures) =>
  failures && Object.keys(failures).length > 0 && Object.entries(failures).map(([kind, count]) => `${count.toLocaleString("en")} ${kind.replaceAll("_", " ")}`).join(", ");

// Interval of a figure: the accuracy of every row has one, the macro-F1 only a result with its own evaluation.
const intervalOf = (row, name) => {
  if (name === "accuracy" && row.accuracy_interval) return row.accuracy_interval;
  const pair = ((row.evaluation || {}).intervals || {})[name];
  if (!Array.isArray(pair) || !pair.every(Number.isFinite)) return null;
  return name === "accuracy" ? pair.map((end) => (100 * end).toFixed(2)) : pair.map((end) => end.toFixed(4));
};

const intervalText = (row, name) => {
  const pair = intervalOf(row, name);
  return pair && `${pair[0]} to ${pair[1]}`;
};

const perClass = (evaluation) => {
  const classes = evaluation && evaluation.per_class;
  if (!classes || !Object.keys(classes).length) return null;
  const figure = (value) => (typeof value === "number" ? value.toFixed(3) : "–");
  return el("section", {}, el("h3", {}, "By class"),
    el("table", { class: "mini" },
      el("thead", {}, el("tr", {}, ...["Class", "Precision", "Recall", "F1", "Clips"].map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", {}, ...Object.entries(classes).map(([name, of]) => el("tr", {}, el("th", { scope: "row" }, name),
        ...["precision", "recall", "f1", "support"].map((key) => el("td", { class: "num" }, key === "support" ? plain(of[key], "–") : figure(of[key]))))))));
};

const fillSheet = (row) => {
  const close = el("button", { type: "button", class: "close", "aria-label": "Close details", on: { click: () => sheet.close() } }, "×");
  const derived = Object.entries(row.source.derived || {});
  const copy = el("button", { type: "button", class: "quiet-button" }, "Copy BibTeX");
  copy.addEventListener("click", () => copyText(row.citation, copy));
  const link = el("button", { type: "button", class: "quiet-button" }, "Copy link to this row");
  link.addEventListener("click", () => copyText(location.href, link));
  const versus = el("button", { type: "button", class: "quiet-button" }, "Compare");
  versus.addEventListener("click", () => {
    sheet.close();
    pickFirst(row.key);
  });
  byId("sheet-inner").replaceChildren(...[
    el("div", { class: "sheet-head" },
      el("p", { class: "eyebrow" }, familyMark(row.family), row.family),
      el("h2", { id: "sheet-title" }, row.name), close),
    el("div", { class: "big" },
      el("div", {}, el("span", { class: "value" }, row.macro_f1), el("span", { class: "what" }, "macro-F1"),
        intervalText(row, "macro_f1") && el("span", { class: "range" }, intervalText(row, "macro_f1"))),
      el("div", {}, el("span", { class: "value" }, row.accuracy), el("span", { class: "what" }, "accuracy, %"),
        intervalText(row, "accuracy") && el("span", { class: "range" }, intervalText(row, "accuracy")))),
    el("p", { class: "rank-line" }, rankSentence(row)),
    closeLine(row),
    el("ul", { class: "whys" }, ...(DATA.why[row.key] || []).map(([text, why], place) =>
      el("li", {}, el("span", { class: `badge b-${row.badges[place]}` }, text), " ", why))),
    row.note ? el("p", { class: "note" }, row.note) : null,
    el("dl", { class: "terms" },
      ...term("Scored on", `${GROUPS.get(row.group).title} (${row.scored_on})`),
      ...term("Snapshot", row.snapshot),
      ...term("Modality", plain(row.modality, "not stated")),
      ...term("Parameters", row.parameters_m === null ? "not stated" : sizeText(row.parameters_m)),
      ...term("Model", row.model_id && outside(row.model_url, row.model_id)),
      ...term("Revision", plain(row.revision, "not stated")),
      ...term("Training data", row.training_sentence),
      ...term("Failed clips", failureText(row.failures)),
      ...term("Superseded by", row.superseded_by),
      ...term("Protocol", [row.protocol.name, row.protocol.version].filter(Boolean).join(" "))),
    perClass(row.evaluation),
    el("section", {}, el("h3", {}, "Source"),
      el("dl", { class: "terms" },
        ...term("Attested by", row.source.attested_by),
        ...term("Where", row.source.locator),
        ...term("Reference", row.source.reference && outside(row.source.reference, row.source.reference)),
        ...derived.flatMap(([name, why]) => term(`Derived: ${name}`, why)))),
    row.citation ? el("section", {}, el("h3", {}, "How to cite"), el("pre", { tabindex: "0", role: "region", "aria-label": "BibTeX" }, el("code", {}, row.citation)), copy) : null,
    el("p", { class: "actions" }, versus, row.key === YOURS ? null : link),
  ].filter(Boolean));
};

const openSheet = (key) => {
  const row = ROWS.get(key);
  if (!row) return;
  fillSheet(row);
  state.row = key;
  writeAddress();
  if (!sheet.open) sheet.showModal();
  byId("sheet-inner").scrollTop = 0;
};

const startDetails = () => {
  sheet.addEventListener("close", () => {
    const key = state.row;
    state.row = "";
    writeAddress();
    const tr = CELLS.get(key);
    if (tr && tr.isConnected) tr.querySelector(".open").focus({ preventScroll: true });
  });
  sheet.addEventListener("click", (event) => event.target === sheet && sheet.close());
};
