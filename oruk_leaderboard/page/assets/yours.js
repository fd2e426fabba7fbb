// A record of your own: read in the browser, checked, placed in the table without a rank. Nothing leaves the page.

const MAX_BYTES = 20e6;
const REBUILT = { rebuilt_full: "full_set", rebuilt_open: "full_set", partial: "full_set", rebuilt_subsample: "subsample_5k" };

class RecordFault extends Error {}

const need = (condition, message) => {
  if (!condition) throw new RecordFault(message);
};

const readRecord = (text) => {
  let record;
  try {
    record = JSON.parse(text);
  } catch {
    throw new RecordFault("the file is no JSON");
  }
  const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
  need(isObject(record) && isObject(record.system), "the file is no record: it has no “system”");
  need(String(record.record_version || "").startsWith("1."), "record_version 1.x is expected");
  const { system } = record;
  need(typeof system.name === "string" && system.name.trim(), "system.name is missing");
  need(/^(100(\.0+)?|\d{1,2}(\.\d+)?)$/.test(record.accuracy), "accuracy must be a decimal string from 0 to 100");
  need(/^(1(\.0+)?|0(\.\d+)?)$/.test(record.macro_f1), "macro_f1 must be a decimal string from 0 to 1");
  need(typeof record.scored_on === "string", "scored_on is missing");
  const text_ = (value) => (typeof value === "string" ? value : null);
  const source = isObject(record.source) ? record.source : {};
  const published = !(record.scored_on in REBUILT);
  const group = REBUILT[record.scored_on] || (PUBLISHED.includes(record.scored_on) ? record.scored_on : PUBLISHED[0]);
  const row = {
    key: YOURS, group: GROUPS.has(group) ? group : DATA.groups[0].id, id: text_(system.id), name: system.name.slice(0, 200),
    family: system.family in DATA.families ? system.family : "open",
    modality: text_(system.modality), parameters_m: Number.isFinite(system.parameters_m) ? system.parameters_m : null,
    model_id: text_(system.model_id), model_url: null, revision: text_(system.revision),
    training_corpora: Array.isArray(system.training_corpora) ? system.training_corpora.map(String) : null,
    in_distribution: typeof system.in_distribution === "boolean" ? system.in_distribution : null, is_oruk: false,
    accuracy: record.accuracy, macro_f1: record.macro_f1, scored_on: record.scored_on,
    snapshot: text_(record.snapshot) || "–", note: text_(record.note),
    failures: isObject(record.failures) ? Object.fromEntries(Object.entries(record.failures).filter(([, count]) => Number.isFinite(count))) : null,
    protocol: isObject(record.protocol) ? record.protocol : { name: "not stated", version: null },
    source: { kind: "yours", attested_by: "the file you dropped", reference: text_(source.reference), locator: text_(source.locator), derived: null },
    superseded_by: null, ranks: {}, badges: ["yours"], interval: null, citation: "",
    evaluation: isObject(record.evaluation) ? record.evaluation : null,
  };
  const why = [[published ? "your file · unranked" : "your result · rebuilt set · unranked",
    published
      ? "A record from your disk, shown in place and not ranked."
      : "Scored on a rebuilt set, not on the original evaluation: shown in place and not ranked."]];
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
