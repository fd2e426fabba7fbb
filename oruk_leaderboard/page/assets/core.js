// Shared pieces. Text reaches the page only through text nodes and attributes, never as markup.

const DATA = JSON.parse(document.getElementById("state").textContent);
const ROWS = new Map(DATA.rows.map((row) => [row.key, row]));
const GROUPS = new Map(DATA.groups.map((group) => [group.id, group]));
const PUBLISHED = DATA.groups.filter((group) => group.published).map((group) => group.id);

const byId = (id) => document.getElementById(id);

// An element with attributes and children; a child that is null or false is left out, a string becomes a text node.
const el = (name, attributes = {}, ...children) => {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "on") for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    else if (value !== null && value !== false) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== false && child !== undefined));
  return node;
};

const familyMark = (family) => {
  const found = [...byId("marks").content.children].find((node) => node.dataset.family === family);
  return found ? found.firstElementChild.cloneNode(true) : el("span");
};

const sizeText = (millions) => {
  if (typeof millions !== "number") return "–";
  return millions < 1000 ? `${millions} M` : `${millions / 1000} B`;
};

// Figures have the digits of their source; figure spaces keep the decimal points of a column below each other.
const aligned = (text) => text + "\u2007".repeat(Math.max(0, 2 - (text.split(".")[1] || "").length));

const isWeb = (address) => typeof address === "string" && /^https?:\/\//i.test(address);

const outside = (address, text) =>
  isWeb(address) ? el("a", { href: address, rel: "noopener noreferrer", target: "_blank" }, text) : text;

// The rule of the command line's CSV: a cell that a spreadsheet could take for a formula gets a leading apostrophe.
const csvCell = (value) => {
  let text = value === null || value === undefined ? "" : String(value);
  if (/^[=+\-@\t\r]/.test(text) && !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

const save = (name, type, text) => {
  const address = URL.createObjectURL(new Blob([text], { type }));
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
};

const copyText = async (text, button) => {
  const label = button.dataset.label || (button.dataset.label = button.textContent);
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Copying is not allowed here";
  }
  setTimeout(() => (button.textContent = label), 1600);
};
