// A deck of slides: keys, buttons, touch, address of a slide, speaker's window.
"use strict";

const slides = [...document.querySelectorAll(".slide")];
const root = document.documentElement;
let here = 0;
let speaker = null;
const start = Date.now();

function fit() {
  const noted = document.body.classList.contains("noted");
  const height = noted ? 1020 : 720;
  const scale = Math.min(innerWidth / 1280, innerHeight / height);
  root.style.setProperty("--scale", scale);
  root.style.setProperty("--left", `${(innerWidth - 1280 * scale) / 2}px`);
  root.style.setProperty("--top", `${(innerHeight - height * scale) / 2}px`);
}

function show(place, moveFocus = true) {
  here = Math.max(0, Math.min(slides.length - 1, place));
  slides.forEach((slide, index) => slide.classList.toggle("here", index === here));
  if (moveFocus) slides[here].focus({ preventScroll: true });
  if (location.hash !== `#${here + 1}`) history.replaceState(null, "", `#${here + 1}`);
  tell();
}

function words(slide, selector) {
  return slide?.querySelector(selector)?.innerHTML ?? "";
}

// The window is blank and belongs to this page, so that it works from a folder too.
function tell() {
  if (speaker === null || speaker.closed) return;
  const page = speaker.document;
  page.getElementById("place").textContent = `${here + 1} / ${slides.length}`;
  page.getElementById("title").innerHTML = words(slides[here], "h1, h2");
  page.getElementById("notes").innerHTML = words(slides[here], ".notes");
  page.getElementById("next").innerHTML = words(slides[here + 1], "h1, h2") || "the end";
}

function tick() {
  if (speaker === null || speaker.closed) return;
  const seconds = Math.floor((Date.now() - start) / 1000);
  const two = (number) => String(number).padStart(2, "0");
  const clock = `${two(Math.floor(seconds / 60))}:${two(seconds % 60)}`;
  speaker.document.getElementById("clock").textContent = clock;
}

function openSpeaker() {
  speaker = window.open("", "speaker", "width=900,height=700");
  if (speaker === null) return;
  const sheets = [...document.querySelectorAll("link[rel=stylesheet], style")];
  const page = speaker.document;
  page.head.innerHTML = "<title>Notes</title>";
  sheets.forEach((sheet) => {
    const copy = page.importNode(sheet, true);
    if (copy.href) copy.href = sheet.href;
    page.head.append(copy);
  });
  page.body.className = "speaker";
  page.body.innerHTML =
    '<p class="clock"><span id="clock"></span> · <span id="place"></span></p>' +
    '<h2 id="title"></h2><div id="notes"></div>' +
    '<p class="next">Next: <span id="next"></span></p>';
  page.onkeydown = press;
  tell();
  tick();
}

function toggleNotes() {
  document.body.classList.toggle("noted");
  fit();
}

function toggleScreen() {
  if (document.fullscreenElement) document.exitFullscreen();
  else root.requestFullscreen?.();
}

function toggleKeys() {
  const keys = document.getElementById("keys");
  keys.hidden = !keys.hidden;
}

const on = () => show(here + 1);
const back = () => show(here - 1);
const actions = {
  ArrowRight: on,
  ArrowDown: on,
  PageDown: on,
  " ": on,
  ArrowLeft: back,
  ArrowUp: back,
  PageUp: back,
  Backspace: back,
  Home: () => show(0),
  End: () => show(slides.length - 1),
  n: toggleNotes,
  s: openSpeaker,
  f: toggleScreen,
  "?": toggleKeys,
};

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  // A button that has the focus keeps its own key.
  if (event.key === " " && event.target.tagName === "BUTTON") return;
  const action = actions[event.key];
  if (action === undefined) return;
  event.preventDefault();
  action();
}

function touch(surface) {
  let from = null;
  surface.addEventListener("touchstart", (e) => (from = e.changedTouches[0].clientX));
  surface.addEventListener("touchend", (e) => {
    const moved = e.changedTouches[0].clientX - from;
    if (Math.abs(moved) > 50) (moved < 0 ? on : back)();
  });
}

const fromAddress = () => show(Number(location.hash.slice(1) || 1) - 1, false);

document.body.classList.add("live");
document.addEventListener("keydown", press);
document.getElementById("on").onclick = on;
document.getElementById("back").onclick = back;
document.getElementById("speak").onclick = openSpeaker;
window.addEventListener("resize", fit);
window.addEventListener("hashchange", fromAddress);
setInterval(tick, 1000);
touch(document.getElementById("stage"));
fit();
fromAddress();
