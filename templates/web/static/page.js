// What all pages share: words from the page, deeds behind buttons and forms, a question before what costs.

const meta = (name) => document.querySelector(`meta[name="${name}"]`).content;
export const nonce = meta("kata-nonce");

/** A sentence of the page's template, with its {places} filled. */
export function word(name, values = {}) {
  const found = document.getElementById("words").content.querySelector(`[data-word="${name}"]`).textContent;
  return found.replace(/\{(\w+)\}/g, (whole, key) => values[key] ?? whole);
}

export function complain(text) {
  document.getElementById("problem").textContent = text ?? "";
  if (text) document.getElementById("problem").scrollIntoView({ block: "nearest" });
}

/** A yes or no; Escape is no. */
export async function sure(question) {
  const dialog = document.getElementById("sure");
  document.getElementById("sure-question").textContent = question;
  dialog.returnValue = "";
  dialog.showModal();
  await new Promise((closed) => dialog.addEventListener("close", closed, { once: true }));
  return dialog.returnValue === "yes";
}

/** Ask the server: { ok, status, values }. What costs an interview is asked first. */
export async function ask(method, address, body = undefined, headers = {}) {
  const raw = typeof body === "string";
  let answer;
  try {
    answer = await fetch(address, {
      method,
      headers: { "X-Kata-Token": meta("kata-write"), ...headers },
      body: method === "GET" ? undefined : raw ? body : JSON.stringify(body ?? {}),
    });
  } catch {
    complain(word("lost"));
    return { ok: false, status: 0, values: {} };
  }
  const json = answer.headers.get("content-type")?.includes("json");
  const values = json ? await answer.json() : { message: await answer.text() };
  if (answer.status === 409 && !raw) {
    if (!(await sure(values.cost))) return { ok: false, status: 409, values };
    return ask(method, address, { ...body, agreed: true }, headers);
  }
  if (!answer.ok && answer.status !== 412) complain([values.message, values.fix].filter(Boolean).join(" "));
  return { ok: answer.ok, status: answer.status, values };
}

const then = (place) => (place.dataset.then ? location.assign(place.dataset.then) : location.reload());
/** What has to be done before a deed, such as a save; a page that edits puts its own here. */
export const before = { save: async () => true };

for (const button of document.querySelectorAll("[data-post]")) {
  button.addEventListener("click", async () => {
    if (button.dataset.sure && !(await sure(button.dataset.sure))) return;
    if (button.dataset.before && !(await before[button.dataset.before]())) return;
    const { ok } = await ask("POST", button.dataset.post, JSON.parse(button.dataset.body ?? "{}"));
    if (ok) then(button);
  });
}

for (const form of document.querySelectorAll("[data-form]")) {
  const began = performance.now();
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const values = {};
    for (const field of form.elements) {
      if (!field.name) continue;
      if ("list" in field.dataset) (values[field.name] ??= []).push(field.checked);
      else if (field.type === "checkbox") values[field.name] = field.checked;
      else if (field.type === "number") values[field.name] = field.value ? Number(field.value) : null;
      else if ("seconds" in field.dataset) values[field.name] = (performance.now() - began) / 1000;
      else values[field.name] = field.value;
    }
    if ((await ask("POST", form.dataset.form, values)).ok) then(form);
  });
}

/** Put a part of a page, made by the server and escaped there, into its place. */
export function put(place, html, { add = false } = {}) {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  for (const style of parsed.querySelectorAll("style")) style.nonce = nonce;
  const nodes = [...parsed.body.childNodes].map((node) => document.adoptNode(node));
  if (add) place.append(...nodes);
  else place.replaceChildren(...nodes);
}

for (const button of document.querySelectorAll("[data-reveal]")) {
  button.addEventListener("click", async () => {
    if (button.dataset.sure && !(await sure(button.dataset.sure))) return;
    const wish = { give_up: "giveUp" in button.dataset };
    const { ok, values } = await ask("POST", `/katas/${button.dataset.reveal}/solution`, wish);
    if (!ok) return;
    put(document.getElementById("solution"), values.html);
    button.hidden = true;
    document.querySelector("#solution pre").focus();
  });
}

const hint = document.getElementById("hint");
hint?.addEventListener("click", async () => {
  const { ok, values } = await ask("POST", `/katas/${document.getElementById("kata").dataset.kata}/hint`);
  if (!ok) return;
  const hints = document.getElementById("hints");
  if (!values.again || !hints.childElementCount) put(hints, values.html, { add: true });
  hint.hidden = values.last;
  hints.lastElementChild.querySelector("summary").focus();
});
