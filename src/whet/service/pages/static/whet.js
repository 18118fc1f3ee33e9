"use strict";
// Pages work without this. With it they follow what happens, and the colours can be chosen.

const THEME = "whet-theme";

function chosenTheme() {
  try { return localStorage.getItem(THEME); } catch { return null; }
}

function isDark() {
  const chosen = chosenTheme();
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

// At once, so that a page does not flash in the other colours.
const chosen = chosenTheme();
if (chosen) document.documentElement.dataset.theme = chosen;

function offerThemes() {
  const button = document.getElementById("theme");
  if (!button) return;
  const name = () => { button.textContent = isDark() ? "Light" : "Dark"; button.setAttribute("aria-label", `Use ${button.textContent.toLowerCase()} colours`); };
  button.hidden = false;
  name();
  button.addEventListener("click", () => {
    const next = isDark() ? "light" : "dark";
    try { localStorage.setItem(THEME, next); } catch { /* not kept, then */ }
    document.documentElement.dataset.theme = next;
    name();
  });
}

// Whoever is filling in a form must not lose what was typed.
function isBusy(main) {
  const fields = main.querySelectorAll("input:not([type=hidden]), select, textarea");
  const changed = [...fields].some((field) => {
    if (field.tagName === "SELECT") return [...field.options].some((each) => each.selected !== each.defaultSelected && (each.selected || each.defaultSelected));
    return field.value !== field.defaultValue;
  });
  return changed || (main.contains(document.activeElement) && document.activeElement.matches("input, select, textarea"));
}

function held() {
  document.getElementById("stale").hidden = false;
  return true;
}

async function swapMain() {
  const main = document.getElementById("main");
  if (isBusy(main)) return held();
  const answer = await fetch(location.href, { headers: { accept: "text/html" }, credentials: "same-origin", cache: "no-store" });
  if (answer.status === 401) { end(); return false; }
  if (!answer.ok) return true;
  const text = await answer.text();
  if (isBusy(main)) return held(); // it may have begun meanwhile
  const fresh = new DOMParser().parseFromString(text, "text/html");
  const opened = [...main.querySelectorAll("details")].map((each) => each.open);
  const focused = document.activeElement && document.activeElement.getAttribute("href");
  for (const place of ["main", "side"]) {
    const old = place === "main" ? main : document.querySelector("nav.side");
    const made = place === "main" ? fresh.getElementById("main") : fresh.querySelector("nav.side");
    if (old && made) old.replaceChildren(...made.childNodes);
  }
  main.querySelectorAll("details").forEach((each, place) => { each.open = Boolean(opened[place]); });
  if (focused && document.activeElement === document.body) {
    const again = [...document.querySelectorAll("a[href]")].find((each) => each.getAttribute("href") === focused);
    if (again) again.focus({ preventScroll: true });
  }
  document.documentElement.dataset.head = fresh.documentElement.dataset.head;
  return true;
}

let source = null;

function show(told, state) {
  const live = document.getElementById("live");
  live.hidden = false;
  live.dataset.state = state;
  document.getElementById("live-told").textContent = told;
}

function end() {
  if (source) source.close();
  document.getElementById("ended").hidden = false;
  show("not live", "ended");
}

function follow() {
  if (!document.getElementById("live") || !window.EventSource) return;
  let swapping = false, again = false;
  source = new EventSource(`/live?since=${encodeURIComponent(document.documentElement.dataset.head)}`);
  source.addEventListener("open", () => show("live", "on"));
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) end(); else show("reconnecting", "off");
  });
  source.addEventListener("ended", end);
  source.addEventListener("changed", async (event) => {
    if (event.data === document.documentElement.dataset.head) return;
    if (swapping) { again = true; return; }
    swapping = true;
    try {
      do { again = false; if (!await swapMain()) return; } while (again);
    } catch { show("reconnecting", "off"); } finally { swapping = false; }
  });
  addEventListener("pagehide", () => source.close());
  // Browsers keep pages to go back to; such a page is shown again as it was, and has to be followed anew.
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
}

document.addEventListener("DOMContentLoaded", () => { offerThemes(); follow(); });
