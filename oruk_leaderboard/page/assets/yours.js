// A record of your own: read in the browser, checked, placed in the table without a rank. Nothing leaves the page.

const MAX_BYTES = 20e6;
const REBUILT = { rebuilt_full: "full_set", rebuilt_open: "full_set", partial: "full_set", rebuilt_subsample: "subsample_5k" };

class RecordFault extends Error {}

const need = (condition, message) => {
  if (!condition) throw new RecordFault(message);
};

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const textOr = (value, other = null) => (typeof value === "string" ? value : other);
const entries = (value, keep) => Object.fromEntries(Object.entries(isObject(value) ? value : {}).filter(([, part]) => keep(part)));

// The parts of an evaluation that the page shows, in the form that it expects; anything else is left out.
const readEvaluation = (evaluation) =>
  isObject(evaluation) ? {
    per_class: entries(evaluation.per_class, isObject),
    slices: Object.fromEntries(Object.entries(entries(evaluation.slices, Array.isArray)).map(([kind, rows]) => [kind, rows.filter(isObject)])),
    intervals: entries(evaluation.intervals, Array.isArray),
  } : null;

const readRecord = (text) => {
  let record;
  try {
    record = JSON.parse(text);
  } catch {
    throw new RecordFault("the file is not JSON");
  }
  need(isObject(record) && isObject(record.system), "the file is not a record: it has no “system”");
  need(String(record.record_version || "").startsWith("1."), "record_version 1.x is expected");
  const { system } = record;
  const source = isObject(record.source) ? record.source : {};
  const protocol = isObject(record.protocol) ? record.protocol : {};
  need(textOr(system.name, "").trim(), "system.name is missing");
  need(/^(100(\.0+)?|\d{1,2}(\.\d+)?)$/.test(textOr(record.accuracy, "")), "accuracy must be a decimal string from 0 to 100");
  need(/^(1(\.0+)?|0(\.\d+)?)$/.test(textOr(record.macro_f1, "")), "macro_f1 must be a decimal string from 0 to 1");
  need(textOr(record.scored_on), "scored_on is missing");
  const rebuilt = Object.hasOwn(REBUILT, record.scored_on);
  const group = rebuilt ? REBUILT[record.scored_on] : record.scored_on;
  const row = {
    key: YOURS, group: PUBLISHED.includes(group) ? group : DATA.groups[0].id, id: textOr(system.id), name: system.name.slice(0, 200),
    family: Object.hasOwn(DATA.families, system.family) ? system.family : "open",
    modality: textOr(system.modality), parameters_m: Number.isFinite(system.parameters_m) ? system.parameters_m : null,
    model_id: textOr(system.model_id), model_url: null, revision: textOr(system.revision),
    training_corpora: Array.isArray(system.training_corpora) ? system.training_corpora.map(String) : null,
    in_distribution: typeof system.in_distribution === "boolean" ? system.in_distribution : null, is_oruk: false,
    accuracy: record.accuracy, macro_f1: record.macro_f1, scored_on: record.scored_on,
    snapshot: textOr(record.snapshot, "–"), note: textOr(record.note), failures: entries(record.failures, Number.isFinite),
    protocol: { name: textOr(protocol.name, "not stated"), version: textOr(protocol.version) },
    source: { kind: "yours", attested_by: "the file you dropped", reference: textOr(source.reference), locator: textOr(source.locator), derived: null },
    superseded_by: null, ranks: {}, badges: ["yours"], accuracy_interval: null, macro_f1_interval: null, close: {}, citation: "",
    training: system.in_distribution === true ? "stated" : "nothing", outside: "unknown",
    training_sentence: Array.isArray(system.training_corpora) ? `Declared: ${system.training_corpora.map(String).join(", ") || "none"}.` : "Training corpora not declared.",
    evaluation: readEvaluation(record.evaluation),
  };
  const why = [rebuilt
    ? ["your result · rebuilt set · unranked", "Scored on a rebuilt set, not on the original evaluation: shown in place and not ranked."]
    : ["your file · unranked", "A record from your disk, shown in place and not ranked."]];
  if (row.in_distribution !== false) {
    row.badges.push("indist");
    why.push([row.in_distribution ? "in-distribution" : "overlap unknown", "Training corpora overlap with the evaluation, or are not declared."]);
  }
  return [row, why];
};

const placeRecord = (text) => {
  const [row, why] = readRecord(text);
  ROWS.set(YOURS, row);
  DATA.why[YOURS] = why;
  const old = CELLS.get(YOURS);
  if (old) old.remove();
  const tr = makeRow(row);
  tr.classList.add("yours");
  CELLS.set(YOURS, tr);
  fillPickers();
  showTable();
  showVersus();
  showYourPoint(row);
  showHeat();
  return row;
};

const place = (row) => {
  const peers = [...ROWS.values()].filter((other) => other.group === row.group && other.key !== YOURS && "current" in other.ranks);
  const better = peers.filter((other) => Number(other.macro_f1) > Number(row.macro_f1)).length;
  return `${better} of ${peers.length} systems of “${GROUPS.get(row.group).title}” have a higher macro-F1`;
};

const readFile = async (file) => {
  const result = byId("drop-result");
  try {
    need(file.size <= MAX_BYTES, "the file is larger than a record can be");
    const row = placeRecord(await file.text());
    const show = el("button", { type: "button", class: "quiet-button" }, "Show it in the table");
    show.addEventListener("click", () => {
      CELLS.get(YOURS).scrollIntoView({ block: "center" });
      CELLS.get(YOURS).querySelector(".open").focus({ preventScroll: true });
    });
    const remove = el("button", { type: "button", class: "quiet-button" }, "Remove it");
    remove.addEventListener("click", removeRecord);
    result.className = "done";
    result.replaceChildren(el("strong", {}, row.name), ` is placed: macro-F1 ${row.macro_f1}, accuracy ${row.accuracy} %. ${place(row)}; a comparison across sets, not a rank. `, show, " ", remove);
  } catch (fault) {
    if (!(fault instanceof RecordFault)) throw fault;
    result.className = "fault";
    result.replaceChildren(el("strong", {}, file.name), `: ${fault.message}.`);
  }
  byId("file").value = "";
};

const removeRecord = () => {
  ROWS.delete(YOURS);
  CELLS.get(YOURS).remove();
  CELLS.delete(YOURS);
  state.a = state.a === YOURS ? "" : state.a;
  state.b = state.b === YOURS ? "" : state.b;
  fillPickers();
  showTable();
  showVersus();
  showYourPoint(null);
  showHeat();
  byId("drop-result").textContent = "Your result is removed.";
  byId("drop-result").className = "";
  byId("file").focus();
};

const startYours = () => {
  byId("file").addEventListener("change", (event) => event.target.files[0] && readFile(event.target.files[0]));
  const carriesFile = (event) => event.dataTransfer && [...event.dataTransfer.types].includes("Files");
  const veil = (shown) => (byId("veil").hidden = !shown);
  document.addEventListener("dragover", (event) => {
    if (!carriesFile(event)) return;
    event.preventDefault();
    veil(true);
  });
  document.addEventListener("dragleave", (event) => event.relatedTarget === null && veil(false));
  document.addEventListener("drop", (event) => {
    if (!carriesFile(event)) return;
    event.preventDefault();
    veil(false);
    if (event.dataTransfer.files[0]) readFile(event.dataTransfer.files[0]);
  });
};
