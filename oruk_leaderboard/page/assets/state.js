// What is shown, kept in the address after "#", so that a view can be linked to and works from file:// as well.

const EMPTY = {
  q: "", family: [], scored: "", modality: "", size: "", training: "", snapshot: "", mixed: false,
  sort: "macro_f1", up: false, row: "", a: "", b: "",
};
let state = { ...EMPTY };

const readAddress = () => {
  const text = location.hash.slice(1);
  const given = new URLSearchParams(text.includes("=") ? text : "");
  const pick = (name, allowed) => (allowed.includes(given.get(name)) ? given.get(name) : EMPTY[name]);
  const row = (name) => (ROWS.has(given.get(name)) ? given.get(name) : "");
  const options = (id) => [...byId(id).options].map((option) => option.value);
  return {
    q: (given.get("q") || "").slice(0, 200),
    family: (given.get("family") || "").split(",").filter((family) => Object.hasOwn(DATA.families, family)),
    scored: pick("scored", options("scored")),
    modality: pick("modality", options("modality")),
    size: pick("size", options("size")),
    training: pick("training", options("training")),
    snapshot: pick("snapshot", options("snapshot")),
    mixed: given.get("mixed") === "1",
    sort: pick("sort", ["name", "family", "macro_f1", "accuracy", "parameters_m", "outside", "snapshot"]),
    up: given.get("order") === "up",
    row: row("row"), a: row("a"), b: row("b"),
  };
};

const writeAddress = () => {
  const out = new URLSearchParams();
  for (const name of ["q", "scored", "modality", "size", "training", "snapshot", "row", "a", "b"])
    if (state[name] && state[name] !== YOURS) out.set(name, state[name]);
  if (state.family.length) out.set("family", state.family.join(","));
  if (state.mixed) out.set("mixed", "1");
  if (state.sort !== EMPTY.sort) out.set("sort", state.sort);
  if (state.up) out.set("order", "up");
  const text = out.toString().replaceAll("%2F", "/").replaceAll("%2C", ",").replaceAll("%3A", ":");
  const address = text ? `#${text}` : location.pathname + location.search;
  if (location.hash !== (text ? `#${text}` : "")) history.replaceState(null, "", address);
  tellSpace(text);
};

// Inside a Space the page is a frame; the Hub shows the state in its own address when it is told.
const tellSpace = (text) => {
  if (window.parent === window || !document.referrer.startsWith("https://huggingface.co/")) return;
  window.parent.postMessage({ hash: text }, "https://huggingface.co");
};

const change = (part) => {
  state = { ...state, ...part };
  writeAddress();
  showTable();
};
