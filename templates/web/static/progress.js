// What is told of grades while they run. A browser opens six connections to a host, so its tabs share one
// stream: the tab that holds the lock reads it, and tells the others. When it closes, the next one takes over.

const OVER = ["done", "cancelled", "failed"];
const channel = new BroadcastChannel("kata-progress");
const waiting = new Map(); // id -> what to do with what is told of it

function hear(told) {
  waiting.get(told.id)?.(told);
}
channel.addEventListener("message", ({ data }) => hear(data));

/** Read the stream until nothing of this tab is under way any more. */
function read() {
  return new Promise((ended) => {
    const stream = new EventSource("/progress");
    const end = () => { stream.close(); ended(); };
    stream.addEventListener("message", ({ data }) => {
      const told = JSON.parse(data);
      hear(told);
      channel.postMessage(told);
      if (!waiting.size) end();
    });
    stream.addEventListener("end", end);
    stream.addEventListener("error", end);
  });
}

/** Follow a grade of that id to its end; `tell` hears of every step. Call it before the grade is asked for. */
export function follow(id, tell) {
  const lock = new AbortController();
  let heard;
  const over = new Promise((resolve) => { heard = resolve; });
  waiting.set(id, (told) => {
    tell(told);
    if (!OVER.includes(told.state)) return;
    waiting.delete(id);
    lock.abort();
    heard(told);
  });
  return {
    over,
    /** The grade was asked for: take part in reading what is told. */
    listen() {
      if (!waiting.has(id)) return;
      navigator.locks.request("kata-progress", { signal: lock.signal }, async () => {
        for (let tries = 0; waiting.has(id) && tries < 3; tries += 1) await read();
        if (!waiting.has(id)) return;
        hear({ id, state: "failed", message: "" }); // the server has gone
      }).catch((reason) => { if (reason.name !== "AbortError") throw reason; });
    },
    forget() {
      waiting.delete(id);
      lock.abort();
    },
  };
}
