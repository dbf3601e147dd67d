// The interview's clock, its questions, and the slider of the debrief.

import { ask, word } from "/static/page.js";

const LOOK = 2000;
const ANNOUNCED = [600, 300, 60]; // seconds left at which a screen reader is told
const clock = document.getElementById("clock");
const at = (id) => document.getElementById(id);
const face = (seconds) => {
  const whole = Math.max(0, Math.ceil(seconds));
  const two = (number) => String(number).padStart(2, "0");
  const hours = Math.floor(whole / 3600);
  const rest = `${two(Math.floor((whole % 3600) / 60))}:${two(whole % 60)}`;
  return hours ? `${hours}:${rest}` : rest;
};

if (clock) {
  const { phase, round } = clock.dataset;
  let ends = performance.now() + 1000 * Number(clock.dataset.remaining ?? 0);
  const due = ANNOUNCED.filter((mark) => mark < Number(clock.dataset.remaining ?? 0));
  const tick = () => {
    const left = (ends - performance.now()) / 1000;
    clock.textContent = face(left);
    clock.classList.toggle("urgent", left <= 300 && left > 60);
    clock.classList.toggle("last", left <= 60);
    if (due.length && left <= due[0]) at("announced").textContent = word("left", { time: face(due.shift()) });
    if (left <= 0) look();
  };
  let looking = false;
  const look = async () => {
    if (looking) return;
    looking = true;
    const { ok, values } = await ask("GET", "/interview/state");
    const leaving = ok && (values.phase !== phase || String(values.round) !== round || values.failed);
    looking = leaving; // once: a second departure would load the next page anew under somebody's hands
    if (leaving) {
      window.dispatchEvent(new Event("kata-leaving"));
      return location.assign("/interview");
    }
    if (!ok) return;
    if (phase !== "writing") return;
    ends = performance.now() + 1000 * values.remaining;
    const saves = values.saves ? word("last-save", { saves: values.saves, time: face(values.last_save) }) : word("no-save");
    at("saves").textContent = [values.problem || saves, values.tested && word("tested", { points: values.tested })]
      .filter(Boolean).join(" · ");
  };
  if (phase === "writing") setInterval(tick, 250);
  setInterval(look, phase === "writing" ? LOOK : 300);
  look();
}

for (const button of document.querySelectorAll("[data-ask]")) {
  button.addEventListener("click", async () => {
    const { ok, values } = await ask("POST", "/interview/ask", { id: button.dataset.ask });
    if (!ok) return;
    button.setAttribute("aria-expanded", "true");
    button.nextElementSibling.textContent = values.answer;
  });
}

for (const slider of document.querySelectorAll("[data-saves]")) {
  const input = slider.querySelector("input");
  const show = async () => {
    const number = input.value;
    const { ok, values } = await ask("GET", slider.dataset.saves + number);
    if (!ok || number !== input.value) return;
    const facts = { number, all: input.max, time: face(Math.floor(values.seconds)), points: values.points, max: values.max_points };
    const words = number === "0" ? word("save-first") : word(values.points === null ? "save" : "save-points", facts);
    const all = values.late ? `${words}, ${word("save-late")}` : words;
    slider.querySelector("[role=status]").textContent = all;
    input.setAttribute("aria-valuetext", all);
    slider.querySelector("code").textContent = values.text;
  };
  input.addEventListener("input", show);
  show();
}
