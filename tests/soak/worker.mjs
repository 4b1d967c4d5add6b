// One of the processes of the soak, in JavaScript: `worker.mjs KIND NAME SEED HOME OUT`. The same kinds
// as in `worker.rs`, with nothing but JSON lines on the socket.

import crypto from "node:crypto";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const [, , kind, name, seed, home, out] = process.argv;
const ledger = path.join(out, "ledgers", `${name}.jsonl`);
const forGood = ["not_found", "conflict", "invalid_params", "invalid_request"];
// It does not outlive who started it.
const parent = process.ppid;
// Calls without an answer that may still take effect.
const late = 10;

let state = BigInt(seed);
const next = () => {
  state = (state * 6364136223846793005n + 1442695040888963407n) & ((1n << 64n) - 1n);
  return Number(state >> 33n);
};
const below = (end) => next() % end;
const note = (what, value) => fs.appendFileSync(ledger, JSON.stringify({ [what]: value }) + "\n");
const lines = () => {
  if (!fs.existsSync(ledger)) return [];
  const whole = fs.readFileSync(ledger, "utf8").split("\n");
  return whole.flatMap((line) => {
    try {
      return Object.entries(JSON.parse(line));
    } catch {
      return [];
    }
  });
};
const sha256 = (text) => crypto.createHash("sha256").update(text).digest("hex");

class Stopped extends Error {}
class Refused extends Error {}

function goOn() {
  if (fs.existsSync(path.join(out, "stop")) || process.ppid !== parent) throw new Stopped();
}

async function pace() {
  goOn();
  await pause(below(30));
}

let socket;
let waiting = new Map();
let asked = 0;

/** A connection that is there, or a new one. */
async function connected() {
  if (socket) return;
  const fresh = net.connect(path.join(home, "herma", "hermad.sock"));
  await new Promise((resolve, reject) => fresh.once("connect", resolve).once("error", reject));
  let rest = "";
  const lost = () => {
    if (socket === fresh) socket = undefined;
    for (const { reject } of waiting.values()) reject(new Error("the connection broke"));
    waiting = new Map();
  };
  fresh.setEncoding("utf8").on("close", lost).on("error", lost).on("data", (piece) => {
    const pieces = (rest + piece).split("\n");
    rest = pieces.pop();
    for (const line of pieces) {
      const { id, result, error } = JSON.parse(line);
      const one = waiting.get(id);
      waiting.delete(id);
      if (error) one?.reject(Object.assign(new Refused(error.message), { kind: error.data?.kind }));
      else one?.resolve(result);
    }
  });
  socket = fresh;
}

/** Calls once. */
async function call(method, params) {
  try {
    await connected();
    const id = ++asked;
    return await new Promise((resolve, reject) => {
      const limit = setTimeout(() => {
        socket?.destroy();
        socket = undefined;
        reject(new Error("no answer in time"));
      }, 40_000);
      const settled = (settle) => (value) => {
        clearTimeout(limit);
        settle(value);
      };
      waiting.set(id, { resolve: settled(resolve), reject: settled(reject) });
      socket.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
    });
  } catch (error) {
    note("error", error.kind ?? "unreachable");
    throw error;
  }
}

/** Calls until there is an answer other than that it can't be done now. */
async function until(method, params) {
  for (;;) {
    goOn();
    try {
      return await call(method, params);
    } catch (error) {
      if (error instanceof Refused && forGood.includes(error.kind)) throw error;
    }
    await pause(100);
  }
}

async function memory() {
  const target = name.endsWith("user") ? "user" : "memory";
  let own = new Set();
  let open = [];
  const begin = (change) => (open = [...open, change].slice(-late));
  for (const [what, value] of lines()) {
    if (what === "try") begin(value);
    if (what === "done") open.pop();
    if (what === "done" || what === "seen") own = new Set(value);
  }
  const compare = (entries) => {
    const found = new Set(entries.filter((entry) => entry.startsWith(`${name}:`)));
    const taken = new Set(open.flatMap((change) => change.remove));
    const put = new Set(open.flatMap((change) => change.add));
    const missing = [...own].filter((text) => !found.has(text) && !taken.has(text));
    const extra = [...found].filter((text) => !own.has(text) && !put.has(text));
    if (missing.length || extra.length) note("loss", `missing ${missing}, too many ${extra}`);
    own = found;
  };
  const look = async () => {
    compare((await until("memory.list", { target, raw: true }))[target].entries);
    note("seen", [...own]);
  };
  await look();
  for (;;) {
    const present = [...own];
    const choice = present.length === 0 ? 0 : present.length >= 3 ? 1 + below(2) : below(3);
    const change = {
      add: choice < 2 ? [`${name}: note ${next().toString(16)} of what was learnt`] : [],
      remove: choice > 0 ? [present[below(present.length)]] : [],
    };
    note("try", change);
    begin(change);
    const method = ["memory.add", "memory.replace", "memory.remove"][choice];
    try {
      const params = { target, content: change.add[0], old_text: change.remove[0] };
      const result = await call(method, params);
      open.pop();
      if (result.success) {
        change.remove.forEach((text) => own.delete(text));
        change.add.forEach((text) => own.add(text));
        note("done", [...own]);
        compare(result.entries);
      } else {
        note("done", [...own]);
        note("error", "refused");
      }
    } catch (error) {
      await look();
    }
    await pace();
  }
}

async function opened(session) {
  const params = { session, agent: name, context_length: 64000 };
  const { snapshot } = await until("session.open", params);
  note("opened", { session, sha256: snapshot.sha256 });
  return snapshot.sha256;
}

async function oneSession(session) {
  const frozen = await opened(session);
  let [generation, position, turn] = [0, 0, 0];
  const rounds = below(4);
  for (let round = 0; round <= rounds; round++) {
    for (let left = below(40); left > 0; left--) {
      turn++;
      const texts = [
        `${session} asks ${turn}: ` + "look there. ".repeat(below(25)),
        `${session} answers ${turn}: ` + "it was so. ".repeat(below(200)),
      ];
      const messages = texts.map((content, at) => ({ role: ["user", "assistant"][at], content }));
      await until("session.append", { session, generation, position, messages });
      note("said", { session, texts });
      position += 2;
      await pace();
    }
    const again = await opened(session);
    if (again !== frozen) note("loss", `the snapshot of ${session} was ${frozen} and is ${again}`);
    if (round === rounds) break;
    try {
      position = (await call("context.compress", { session, force: true })).messages.length;
    } catch {
      // Whether it was done is not known, nor the list that came of it.
      return;
    }
    generation = (await until("session.show", { session })).generation;
    note("compressed", session);
  }
  if (below(3) > 0) {
    await until("session.close", { session });
    note("closed", session);
  }
}

async function sessions() {
  let number = lines().filter(([what]) => what === "opened").length;
  for (;;) {
    number++;
    try {
      await oneSession(`${name}-${number}`);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      note("loss", `${name}-${number}: ${error.kind} ${error.message}`);
    }
  }
}

async function outputs() {
  let kept = [];
  for (const [what, value] of lines()) {
    if (what === "kept") kept.push(value);
    if (what === "removing") kept = kept.filter(({ handle }) => handle !== value);
  }
  for (;;) {
    try {
      if (kept.length < 20) {
        const id = `${next().toString(16)}${next().toString(16)}`;
        const text = `${name} said ${id}\n`.repeat(100 + below(4000));
        const params = { session: `${name}-outputs`, tool: "terminal", id, content: text, threshold: 0 };
        const { handle } = await call("output.admit", params);
        if (handle) {
          kept.push({ handle, sha256: sha256(text) });
          note("kept", kept.at(-1));
        }
      } else {
        const { handle } = kept.shift();
        note("removing", handle);
        await call("output.remove", { handle });
        note("removed", handle);
      }
      if (kept.length) {
        const one = kept[below(kept.length)];
        let [text, offset] = ["", 0];
        while (offset !== undefined) {
          const page = await call("output.read", { handle: one.handle, offset, limit: 1_000_000 });
          text += page.text;
          offset = page.next?.offset;
        }
        if (sha256(text) !== one.sha256) note("loss", `${one.handle} has another text`);
        note("read", one.handle);
      }
    } catch (error) {
      if (error instanceof Stopped) throw error;
      if (error.kind === "not_found") note("loss", `an output is gone: ${error.message}`);
      await pause(100);
    }
    await pace();
  }
}

try {
  await { memory, session: sessions, output: outputs }[kind]();
} catch (error) {
  if (!(error instanceof Stopped)) throw error;
}
process.exit(0);
