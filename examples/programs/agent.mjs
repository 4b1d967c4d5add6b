// A small agent whose memory, outputs and long conversation herma keeps: Node's standard
// library only, JSON-RPC lines on the Unix socket.
//
//     herma daemon start && node examples/programs/agent.mjs
//
// A real agent asks a model where `answer` stands and runs tools where `tool` stands.

import assert from "node:assert";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import readline from "node:readline";

const session = "example-javascript";
const turns = 60;
const home = process.env.HERMA_HOME || process.env.HERMES_HOME || path.join(os.homedir(), ".hermes");
const socket = net.connect(process.env.HERMA_SOCKET || path.join(home, "herma", "hermad.sock"));
const waiting = new Map();
let next = 0;

socket.on("error", (error) => {
  console.error(`no daemon: ${error.message}; herma daemon start`);
  process.exit(3);
});
readline.createInterface({ input: socket }).on("line", (line) => {
  const { id, result, error } = JSON.parse(line);
  const { resolve, reject } = waiting.get(id);
  waiting.delete(id);
  if (error) reject(new Error(`${error.data?.kind}: ${error.message}`));
  else resolve(result);
});

/** Asks the daemon. Many calls may be under way at once. */
function herma(method, params) {
  const id = ++next;
  socket.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

/** A tool with a long result. */
const tool = (turn) =>
  Array.from({ length: 400 }, (_, line) => `minute ${turn}: INFO request ${line} took ${line % 97} ms\n`).join("");

/** What a model would say. */
const answer = (turn) => `Turn ${turn}: the slowest request took 96 ms, nothing else stands out. Shall I go on?`;

const { snapshot } = await herma("session.open", { session, agent: "example", context_length: 30000 });
// The snapshot is the same at every call of the session, so that prompt caches hold.
const blocks = [snapshot.memory, snapshot.user].filter(Boolean);
let messages = [{ role: "system", content: ["You watch a server.", ...blocks].join("\n\n") }];
let compressions = 0;
let spilled = 0;
for (let turn = 0; turn < turns; turn++) {
  const id = `call_${turn}`;
  const kept = await herma("output.admit", { session, tool: "read_log", id, content: tool(turn), threshold: 5000 });
  spilled += kept.spilled;
  messages.push(
    { role: "user", content: `Look at minute ${turn}. Never restart anything by yourself.` },
    { role: "assistant", content: null, tool_calls: [{ id, type: "function", function: { name: "read_log", arguments: "{}" } }] },
    { role: "tool", tool_call_id: id, content: kept.content },
    { role: "assistant", content: answer(turn) },
  );
  if ((await herma("context.check", { session, messages })).compress) {
    const done = await herma("context.compress", { session, messages });
    messages = done.messages;
    compressions += done.report.compressed;
  }
}
await herma("memory.add", { target: "memory", content: "The slowest request takes about 96 ms." });
const { hits } = await herma("recall.search", { query: "slowest request", session, limit: 3 });
console.log(`${turns} turns, ${spilled} outputs spilled, ${compressions} compressions, ${messages.length} messages left`);
console.log(`${hits.length} hits for what was compressed away, the best: ${hits[0].handle}`);
assert(messages.some((message) => String(message.content).includes("Never restart anything")));
socket.end();
