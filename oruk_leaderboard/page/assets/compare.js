// Two systems side by side.

const fillPickers = () => {
  for (const id of ["first", "second"]) {
    const groups = DATA.groups.map((group) => {
      const rows = [...ROWS.values()].filter((row) => row.group === group.id && row.key !== YOURS);
      return el("optgroup", { label: group.title }, ...rows.map((row) => el("option", { value: row.key }, `${row.name} · ${row.snapshot}`)));
    });
    const own = ROWS.has(YOURS) ? [el("option", { value: YOURS }, `Your result: ${ROWS.get(YOURS).name}`)] : [];
    byId(id).replaceChildren(...own, ...groups);
  }
  const best = [...ROWS.values()].filter((row) => row.key !== YOURS && row.in_distribution !== true);
  byId("first").value = state.a || (best[0] || [...ROWS.values()][0]).key;
  byId("second").value = state.b || (best[1] || best[0] || [...ROWS.values()][0]).key;
};

const pickFirst = (key) => {
  byId("first").value = key;
  if (byId("second").value === key) byId("second").selectedIndex = byId("second").selectedIndex ? 0 : 1;
  pickersChanged();
  byId("compare").scrollIntoView();
  byId("second").focus({ preventScroll: true });
};

const pickersChanged = () => {
  state.a = byId("first").value;
  state.b = byId("second").value;
  writeAddress();
  showVersus();
};

const cautions = (one, other) => {
  const found = [];
  if (one.key === other.key) found.push("This is one row twice.");
  if (one.group !== other.group) found.push("Scored on different sets: the difference is not a measurement.");
  if (one.in_distribution !== other.in_distribution && (one.in_distribution || other.in_distribution))
    found.push("One of the two was trained in-distribution: not a like-for-like comparison.");
  if (one.group === other.group && (one.close[view()] || []).includes(other.name))
    found.push(`Intervals of ${one.macro_f1_interval ? "macro-F1" : "accuracy"} overlap: the two may be equal.`);
  if (one.snapshot !== other.snapshot) found.push("The figures belong to different snapshots.");
  if (one.modality !== other.modality) found.push("One of the two reads a transcript instead of hearing the audio.");
  return found;
};

const digits = (text) => (String(text).split(".")[1] || "").length;

const difference = (one, other) => {
  const places = Math.min(digits(one), digits(other)); // no more digits than the coarser figure has
  const value = Number(one) - Number(other);
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(places)}`;
};

const rankShort = (row) => {
  const own = row.ranks[view()] || row.ranks.current;
  return own ? String(own[0]) : "not ranked";
};

const scoreCell = (value, share, row) => {
  const bar = byId("row-template").content.querySelector(".bar").cloneNode(true);
  bar.querySelector("rect").setAttribute("width", Math.max(0, Math.min(100, 100 * share)));
  return el("td", { class: DATA.families[row.family] || "" }, el("span", {}, value), bar);
};

const showVersus = () => {
  const [one, other] = ["first", "second"].map((id) => ROWS.get(byId(id).value));
  if (!one || !other) return;
  const line = (name, a, b, delta = "") => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, a), el("td", {}, b), el("td", { class: "num" }, delta));
  const score = (name, key, scale) => el("tr", { class: "score" }, el("th", { scope: "row" }, name),
    scoreCell(one[key], Number(one[key]) / scale, one), scoreCell(other[key], Number(other[key]) / scale, other),
    el("td", { class: "num" }, difference(one[key], other[key])));
  const classes = one.evaluation && other.evaluation && one.evaluation.per_class && other.evaluation.per_class;
  byId("versus").replaceChildren(
    ...cautions(one, other).map((text) => el("p", { class: "warning" }, text)),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Comparison" }, el("table", { class: "versus-table" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, el("span", { class: "sr" }, "Field")),
        ...[one, other].map((row) => el("th", { scope: "col" }, familyMark(row.family), row.name)), el("th", { scope: "col", class: "num" }, "difference"))),
      el("tbody", {},
        score("Macro-F1", "macro_f1", 1), score("Accuracy %", "accuracy", 100),
        ...(classes ? DATA.classes.filter((name) => one.evaluation.per_class[name] && other.evaluation.per_class[name]).map((name) => {
          const [a, b] = [one, other].map((row) => Number(row.evaluation.per_class[name].f1).toFixed(3));
          return line(`F1 ${name}`, a, b, difference(a, b));
        }) : []),
        line("Rank", rankShort(one), rankShort(other)),
        line("Scored on", GROUPS.get(one.group).title, GROUPS.get(other.group).title),
        line("Family", one.family, other.family),
        line("Size", one.parameters_m === null ? "not stated" : sizeText(one.parameters_m), other.parameters_m === null ? "not stated" : sizeText(other.parameters_m)),
        line("Modality", plain(one.modality, "not stated"), plain(other.modality, "not stated")),
        line("Failed clips", failureText(one.failures) || "not stated", failureText(other.failures) || "not stated"),
        line("Not seen in training", one.outside, other.outside),
        line("Snapshot", one.snapshot, other.snapshot)))));
};

const startCompare = () => {
  for (const id of ["first", "second"]) byId(id).addEventListener("change", pickersChanged);
};
