// Start: read the address, show the view, listen.

const THEMES = ["auto", "light", "dark"];

const startTheme = () => {
  const button = byId("theme");
  const stored = () => {
    try {
      return localStorage.getItem("oruk-theme");
    } catch {
      return null; // storage is closed to this page: the choice lasts until it is left
    }
  };
  const show = (theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
  };
  let theme = THEMES.includes(stored()) ? stored() : "auto";
  show(theme);
  button.addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    show(theme);
    try {
      localStorage.setItem("oruk-theme", theme);
    } catch {
      button.title = "This choice lasts until the page is left";
    }
  });
};

// Links within the page scroll and move the focus, and leave the view in the address alone.
const startLinks = () => {
  for (const link of document.querySelectorAll('a[href^="#"]'))
    link.addEventListener("click", (event) => {
      const target = byId(link.hash.slice(1));
      event.preventDefault();
      target.scrollIntoView();
      target.focus({ preventScroll: true });
    });
};

const showAddress = () => {
  state = readAddress();
  showTools();
  showTable();
  fillPickers();
  showVersus();
  if (state.row) openSheet(state.row);
  else if (sheet.open) sheet.close();
};

// On a telephone the long parts start closed; a link into one opens it.
const foldParts = () => {
  if (!matchMedia("(max-width: 640px)").matches) return;
  for (const part of document.querySelectorAll("details.fold")) part.open = false;
};

document.documentElement.classList.add("js");
startTheme();
startLinks();
startTable();
startDetails();
startCompare();
startYours();
startPlots();
for (const button of document.querySelectorAll("[data-copy]"))
  button.addEventListener("click", () => copyText(byId(button.dataset.copy).textContent, button));
window.addEventListener("hashchange", showAddress);
showAddress();
showHeat();
foldParts();
const anchor = location.hash.slice(1);
if (anchor && !anchor.includes("=") && byId(anchor)) byId(anchor).scrollIntoView();
