// The editor's page: save, grade, and what to do about a text that somebody else changed.

import { open } from "/static/editor.js";
import { ask, before, complain, nonce, put, word } from "/static/page.js";
import { follow } from "/static/progress.js";

const PAUSE = 1500; // milliseconds without typing after which an interview saves
const LOOK = 3000; // milliseconds between two looks at the file on the disk
const at = (id) => document.getElementById(id);
const place = at("editor");
const { work } = place.dataset;
let base = place.dataset.sha256; // of what is edited
let saved = ""; // the text as it was last saved or loaded
let saving = Promise.resolve(true);

const first = await fetch(`/answers/${work}`);
if (!first.ok) complain((await first.json()).message);
base = first.headers.get("etag")?.replaceAll('"', "") ?? base;
const text = first.ok ? await first.text() : "";
const newline = text.includes("\r\n") && !/[^\r]\n/.test(text) ? "\r\n" : "\n";

const editor = open({
  parent: place, text, newline, nonce, label: place.dataset.label, description: "editor-help",
  deeds: {
    save: () => save(),
    grade: () => (at("grade") ? grade() : save()),
    leave: () => (at("grade") ?? at("save")).focus(),
    changed: show,
  },
});
saved = editor.text();
place.querySelector(".cm-content").tabIndex = 0; // said aloud: what scrolls can be reached by keyboard
show();
mark();
let leaving = false; // the interview went on without us
window.addEventListener("kata-leaving", () => { leaving = true; });
window.addEventListener("beforeunload", (event) => { if (!leaving && editor.text() !== saved) event.preventDefault(); });
document.documentElement.dataset.ready = "";

function show(words) {
  at("saved").textContent = typeof words === "string" ? words : word(editor.text() === saved ? "saved" : "unsaved");
}

/** Save; `over` keeps the text that is on the disk beside the file. One save after another. */
function save(over = false) {
  saving = saving.then(() => put_text(over));
  return saving;
}

async function put_text(over) {
  const edited = editor.text();
  if (edited === saved && !over && at("conflict").hidden) return true;
  show(word("saving"));
  const { ok, status, values } = await ask("PUT", `/answers/${work}`, edited, { "If-Match": over ? "*" : `"${base}"` });
  at("conflict").hidden = ok || status !== 412;
  if (!ok) {
    show();
    if (status === 412) at("take").focus();
    return false;
  }
  base = values.sha256;
  saved = edited;
  complain();
  show(values.backup ? word("kept", { name: values.backup }) : undefined);
  return true;
}
before.save = () => save();

/** Another program's text: taken at once where nothing is lost by it, else offered. */
async function look() {
  if (document.hidden || !at("conflict").hidden) return;
  let answer;
  try {
    answer = await fetch(`/answers/${work}`, { headers: { "If-None-Match": `"${base}"` } });
  } catch { return; }
  if (answer.status !== 200) return;
  const there = await answer.text();
  const sum = answer.headers.get("etag").replaceAll('"', "");
  if (sum === base) return;
  if (editor.text() === saved) take(there, sum);
  else at("conflict").hidden = false;
}

function take(there, sum) {
  editor.replace(there);
  base = sum;
  saved = editor.text();
  at("conflict").hidden = true;
  show();
}

at("take").addEventListener("click", async () => {
  const answer = await fetch(`/answers/${work}`);
  if (!answer.ok) return complain((await answer.json()).message);
  take(await answer.text(), answer.headers.get("etag").replaceAll('"', ""));
  editor.focus();
});
at("keep").addEventListener("click", async () => { if (await save(true)) editor.focus(); });
at("save").addEventListener("click", () => save());
window.addEventListener("focus", look);
setInterval(look, LOOK);

/** Mark the lines that the result speaks of, if it is the result of this text. */
function mark() {
  const report = document.querySelector("#result .report");
  if (!report || report.dataset.sha256 !== base || editor.text() !== saved) return;
  editor.mark([...report.querySelectorAll(".marks li")].map((item) => ({
    line: Number(item.dataset.line), sentence: item.textContent, wrong: "wrong" in item.dataset,
  })));
}

let underway = null;

async function grade() {
  if (underway) return;
  const id = (underway = crypto.randomUUID());
  at("grade").disabled = true;
  performance.mark("grade-asked");
  if (await save()) await graded(id);
  at("grade").disabled = false;
  at("progress").hidden = true;
  underway = null;
}

async function graded(id) {
  const { over, listen, forget } = follow(id, tell);
  tell({ state: "waiting" });
  const { ok } = await ask("POST", "/gradings", { id, work });
  if (!ok) return forget();
  listen();
  const told = await over;
  if (told.state === "cancelled") return show(word("cancelled"));
  if (told.state === "failed") return complain(told.message || word("lost"));
  const result = await ask("GET", `/gradings/${id}`);
  if (!result.ok) return;
  put(at("result"), result.values.html);
  at("by-hand")?.addEventListener("click", () => byHand(id));
  at("trial-result").replaceChildren();
  if (at("hint")) at("hint").hidden = false; // there may be something new to mend
  complain(result.values.warning ?? "");
  show(word("graded", { verdict: word(result.values.verdict) }));
  mark();
  if (matchMedia("(max-width: 62rem)").matches) at("result").scrollIntoView();
  requestAnimationFrame(() => setTimeout(() => performance.mark("grade-painted")));
}

function tell({ state, stage, checks, all_checks: all }) {
  const words = state === "waiting" ? "waiting" : stage || "loading";
  at("stage").textContent = word(words, { checks, all });
  if (all) Object.assign(at("done"), { max: all, value: checks });
  else at("done").removeAttribute("value");
  at("progress").hidden = false;
}

/** The smallest example on which what was graded is wrong. */
async function byHand(id) {
  at("by-hand").disabled = true;
  const { ok, values } = await ask("POST", `/gradings/${id}/paper`);
  if (!ok) return void (at("by-hand").disabled = false);
  put(at("paper"), values.html);
  at("paper").querySelector("h2").focus();
}

/** The file on an example: no verdict, no attempt. */
async function run() {
  at("run").disabled = true;
  if (await save()) {
    const { ok, values } = await ask("POST", `/answers/${work}/run`);
    if (ok) {
      put(at("trial-result"), values.html);
      complain();
      at("trial-result").querySelector("h2").focus();
    }
  }
  at("run").disabled = false;
}

at("run").addEventListener("click", run);
at("grade")?.addEventListener("click", grade);
at("cancel")?.addEventListener("click", () => underway && ask("POST", `/gradings/${underway}/cancel`));

// In an interview nobody should lose what was typed when the time ends: a pause in typing saves.
let pause;
if (at("clock")) {
  place.addEventListener("input", () => { clearTimeout(pause); pause = setTimeout(() => save(), PAUSE); });
  document.addEventListener("visibilitychange", () => { if (document.hidden) save(); });
}
