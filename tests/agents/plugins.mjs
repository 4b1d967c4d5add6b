// The scripts that OpenCode, pi and OpenClaw load, with a hook that only answers: what they send, and what they do where something
// goes wrong. `node --test` runs it.

import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";

const sources = fileURLToPath(new URL("../../client/agents/src/", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "hp"));
after(() => rmSync(folder, { recursive: true }));

/** Loads a script as it is installed, with the folder's own hook. */
let copies = 0;
const load = async (name, program = join(folder, "hook")) => {
  const constants = { PROGRAM: program, OPTIONS: [], AGENT: "agent", COMPACTS: true, IS_OF_PROJECT: false };
  let hooks = readFileSync(join(sources, "settings/script.js"), "utf8");
  for (const [constant, value] of Object.entries(constants))
    hooks = hooks.replace(new RegExp(`^const ${constant} = .*;$`, "m"), `const ${constant} = ${JSON.stringify(value)};`);
  const path = join(folder, `script${copies++}.mjs`);
  writeFileSync(path, readFileSync(join(sources, name), "utf8").replace("// HOOKS", hooks));
  return import(path);
};

/** The events that the hook got: their names and what they have. */
const events = () => {
  const lines = readFileSync(join(folder, "log"), "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line));
};

/** Sets what the hook answers to an event: the body of a function of the event. */
const answer = (body) => {
  const log = JSON.stringify(join(folder, "log"));
  const program = `#!${process.execPath}
const { appendFileSync, readFileSync } = require("node:fs");
const [name, value] = [process.argv[4], JSON.parse(readFileSync(0, "utf8"))];
appendFileSync(${log}, JSON.stringify({ name, ...value }) + "\\n");
const answer = ((name, value) => { ${body} })(name, value);
if (answer) console.log(JSON.stringify(answer));
`;
  writeFileSync(join(folder, "hook"), program);
  chmodSync(join(folder, "hook"), 0o700);
};

const KEEPS = "if (name === 'stop') return { kept: value.records.at(-1)?.key ?? '' };";

beforeEach(() => {
  writeFileSync(join(folder, "log"), "");
  answer(KEEPS);
});

const said = (id, role, created, more = {}) => ({
  info: { id, role, sessionID: "s", time: { created, completed: role === "assistant" ? created : undefined }, ...more },
  parts: [{ id: `prt_${id}`, messageID: id, sessionID: "s", type: "text", text: id }, { id: `prt_${id}z`, type: "step-finish" }],
});

/** OpenCode's plugin in a session with these messages. */
const opencode = async (messages, program) => {
  const { Herma } = await load("opencode/plugin.js", program);
  const client = {
    session: { get: async () => ({ data: { id: "s", directory: "/w" } }), messages: async () => ({ data: messages }) },
    tui: { showToast: async () => {} },
  };
  return Herma({ client, directory: `/w${copies}` });
};

const prompt = async (hooks, id = "m9") => {
  const { info, parts } = said(id, "user", Date.now());
  const output = { message: { ...info, model: { modelID: "m" } }, parts: parts.slice(0, 1) };
  await hooks["chat.message"]({ sessionID: "s" }, output);
  return output.parts;
};

const sent = () => events().filter(({ name }) => name === "stop").flatMap(({ records }) => records.slice(1).map(({ id }) => id));

test("what was said before is sent in its order, also behind an answer that never ended and ids that begin again", async () => {
  const killed = said("m2", "assistant", 2_000, { time: { created: 2_000 } });
  const hooks = await opencode([said("mf", "user", 1_000), killed, said("m1", "user", 3_000), said("m3", "assistant", 4_000)]);
  await prompt(hooks);
  await hooks.dispose();
  assert.deepEqual(sent(), ["mf", "m2", "m1", "m3"]);
});

test("what the hook did not keep comes with the compaction, and the summary takes the place of the answer", async () => {
  const hooks = await opencode([]);
  await prompt(hooks);
  answer("if (name === 'compact') return { summary: 'THE HANDOFF', last: ['[user] one', '[assistant] two'] };");
  const answered = said("ma", "assistant", Date.now() + 1);
  for (const message of [said("m9", "user", Date.now()), answered]) {
    for (const part of message.parts) await hooks.event({ event: { type: "message.part.updated", properties: { part: { ...part, messageID: message.info.id, sessionID: "s" } } } });
    await hooks.event({ event: { type: "message.updated", properties: { info: message.info } } });
  }
  const compaction = { context: [] };
  await hooks["experimental.session.compacting"]({ sessionID: "s" }, compaction);
  const asked = events().find(({ name }) => name === "compact");
  assert.deepEqual(asked.records.slice(1).map(({ id }) => id), ["m9", "ma"]);
  const request = { messages: [answered] };
  await hooks["experimental.chat.messages.transform"]({}, request);
  const text = { text: "OK" };
  await hooks["experimental.text.complete"]({ sessionID: "s", messageID: "mb" }, text);
  assert.ok(compaction.prompt && request.messages.length === 0);
  assert.equal(text.text, "THE HANDOFF\n\nWhat came next, as it was said:\n\n[user] one\n\n[assistant] two");
  // Neither the next request nor its answer is touched.
  await hooks.event({ event: { type: "session.compacted", properties: { sessionID: "s" } } });
  const [next, own] = [{ messages: [answered] }, { text: "mine" }];
  await hooks["experimental.chat.messages.transform"]({}, next);
  await hooks["experimental.text.complete"]({ sessionID: "s", messageID: "mc" }, own);
  assert.deepEqual([next.messages.length, own.text], [1, "mine"]);
});

test("without an answer a compaction is OpenCode's own", async () => {
  const hooks = await opencode([]);
  await prompt(hooks);
  answer("return undefined;");
  const compaction = { context: [] };
  await hooks["experimental.session.compacting"]({ sessionID: "s" }, compaction);
  const request = { messages: [said("ma", "assistant", 1)] };
  await hooks["experimental.chat.messages.transform"]({}, request);
  assert.deepEqual([compaction, request.messages.length], [{ context: [] }, 1]);
});

/** The parts of OpenClaw that its engine asks for, with these entries of a transcript. */
const sdk = (entries) => {
  const place = join(folder, "node_modules/openclaw");
  mkdirSync(join(place, "plugin-sdk"), { recursive: true });
  writeFileSync(join(place, "package.json"), JSON.stringify({ name: "openclaw", type: "module", exports: { "./*": "./*.js" } }));
  globalThis.entries = entries;
  writeFileSync(
    join(place, "plugin-sdk/session-transcript-runtime.js"),
    "export const readSessionTranscriptVisibleMessageDelta = async () => ({ kind: 'page', hasMore: false, entries: globalThis.entries });",
  );
  writeFileSync(
    join(place, "plugin-sdk/core.js"),
    "export const buildMemorySystemPromptAddition = () => 'OWN MEMORY'; export const delegateCompactionToRuntime = () => 'by itself';",
  );
};

/** OpenClaw's engine for a turn. */
const openclaw = async () => {
  const { default: plugin } = await load("openclaw/engine.js");
  let made, middleware;
  plugin.register({
    registerContextEngine: (_id, factory) => (made = factory),
    registerAgentToolResultMiddleware: (work) => (middleware = work),
  });
  return { engine: made({ agentDir: join(folder, `agent${copies}`), workspaceDir: "/w" }), middleware };
};

const turn = { sessionId: "s", sessionKey: "agent:main:s" };

test("OpenClaw's turns are kept in their order, also those that were not kept before", async () => {
  const message = (role, text, timestamp) => ({ role, content: text, timestamp });
  const entries = [{ seq: 3, message: message("user", "one", 1) }, { seq: 5, message: message("assistant", "two", 2) }];
  sdk([...entries, { seq: 6, message: { role: "custom" } }]);
  const { engine } = await openclaw();
  answer("return undefined;");
  await assert.rejects(engine.commitTurn(turn), /does not answer/);
  answer(KEEPS);
  sdk([...entries, { seq: 9, message: message("user", "three", 3) }]);
  assert.deepEqual(await engine.commitTurn(turn), { status: "committed" });
  assert.deepEqual(await engine.commitTurn(turn), { status: "committed" });
  const records = events().filter(({ name }) => name === "stop").map(({ records }) => records.slice(1).map(({ key }) => Number(key)));
  assert.deepEqual(records, [[3, 5], [3, 5, 9]]);
  const internal = { sessionId: "i", sessionKey: "agent:main:internal-session-effects:i" };
  assert.deepEqual(await engine.commitTurn(internal), { status: "committed" });
  assert.ok(events().every(({ session_id }) => session_id === "s"));
});

test("OpenClaw's list begins with the handoff, as long as it is the list that was compacted", async () => {
  const messages = [1, 2, 3, 4].map((time) => ({ role: time % 2 ? "user" : "assistant", content: `m${time}`, timestamp: time * 1_000 }));
  sdk(messages.map((message, at) => ({ seq: at, message })));
  answer("if (name === 'compact') return { summary: 'THE HANDOFF', firstKeptEntryId: '2' }; if (name === 'session-start') return { hookSpecificOutput: { additionalContext: 'THE MEMORY' } };");
  const { engine } = await openclaw();
  const { ok, compacted, result } = await engine.compact({ ...turn, tokenBudget: 64_000 });
  assert.ok(ok && compacted && result.summary === "THE HANDOFF");
  const made = await engine.assemble({ ...turn, messages });
  assert.deepEqual(made.messages.map(({ content }) => content), ["THE HANDOFF", "m3", "m4"]);
  assert.equal(made.systemPromptAddition, "OWN MEMORY\n\nTHE MEMORY");
  // Before the next call of the model, the list is the one that was made.
  assert.deepEqual((await engine.assemble({ ...turn, messages: made.messages })).messages, made.messages);
  // The user went back.
  const shorter = messages.slice(0, 1);
  assert.deepEqual((await engine.assemble({ ...turn, messages: shorter })).messages, shorter);
  answer("return undefined;");
  assert.equal(await engine.compact({ ...turn, tokenBudget: 64_000 }), "by itself");
  assert.deepEqual((await engine.assemble({ ...turn, messages })).messages, messages);
  assert.equal((await engine.assemble({ sessionId: 7, sessionKey: null })).messages.length, 0);
});

test("a large output of OpenClaw becomes a preview, and an odd one stays", async () => {
  answer("if (name === 'post-tool-use') return { hookSpecificOutput: { updatedToolOutput: 'PREVIEW ' + value.tool_name } };");
  const { middleware } = await openclaw();
  const result = (text) => ({ content: [{ type: "text", text }], details: { aggregated: text, exitCode: 0 } });
  const asked = (toolName, result) => middleware({ toolName, toolCallId: "c", args: {}, result }, { sessionId: "s" });
  assert.deepEqual((await asked("exec", result("x".repeat(30_000)))).result, result("PREVIEW exec"));
  assert.equal((await asked("herma__recall_search", result("x".repeat(30_000)))).result.content[0].text, "PREVIEW mcp__herma__recall_search");
  for (const [name, odd] of [["exec", result("short")], ["read", result("x".repeat(30_000))], ["exec", undefined], ["exec", { content: [{ type: "image" }] }]])
    assert.equal(await asked(name, odd), undefined);
});

test("nothing that is odd ends a turn", async () => {
  const hooks = await opencode([]);
  const parts = await prompt(hooks);
  assert.equal(parts.length, 1);
  await hooks["tool.execute.after"]({ tool: "task", sessionID: "s", callID: "1" }, undefined);
  await hooks["tool.execute.after"]({ tool: "x", sessionID: "s", callID: "1", args: { n: 1n } }, { output: "x".repeat(30_000) });
  await hooks.event({ event: { type: "message.updated", properties: {} } });
  await hooks["experimental.chat.messages.transform"]({}, { messages: [] });
  await hooks["experimental.session.compacting"]({}, {});
});

test("a whole output is taken from its file once that is whole, and from no other file", async () => {
  const hooks = await opencode([]);
  await prompt(hooks);
  answer("if (name === 'post-tool-use') return { hookSpecificOutput: { updatedToolOutput: String(value.tool_response.length) } };");
  const lines = Array.from({ length: 9_000 }, (_, at) => `line ${at}\n`).join("");
  const path = join(folder, "output");
  const ask = async (later) => {
    const output = { output: `...output truncated...\n\n${lines.slice(-4_000)}`, metadata: { truncated: true, outputPath: path } };
    setTimeout(later, 120);
    await hooks["tool.execute.after"]({ tool: "bash", sessionID: "s", callID: "1", args: {} }, output);
    return output.output;
  };
  writeFileSync(path, lines.slice(0, 40_000));
  assert.equal(await ask(() => writeFileSync(path, lines)), String(lines.length));
  writeFileSync(path, lines.slice(0, 40_000));
  assert.match(await ask(() => {}), /^...output truncated/);
  rmSync(path);
  assert.match(await ask(() => {}), /^...output truncated/);
});

test("a program that is gone is said once", async () => {
  const { default: herma } = await load("pi/extension.js", "/no/such/program");
  const [handlers, notes] = [new Map(), []];
  herma({ on: (name, work) => handlers.set(name, work) });
  const session = { getSessionId: () => "s", getSessionFile: () => "/s.jsonl", getEntries: () => [], getBranch: () => [] };
  const context = { sessionManager: session, cwd: "/", hasUI: true, ui: { notify: (words) => notes.push(words) } };
  await handlers.get("session_start")({ reason: "startup" }, context);
  assert.equal(await handlers.get("before_agent_start")({ prompt: "hello" }, context), undefined);
  await handlers.get("turn_end")({}, context);
  await handlers.get("session_shutdown")({ reason: "quit" }, context);
  assert.equal(notes.length, 1);
  assert.match(notes[0], /its program is gone/);
});
