// The SDKs of Anthropic and OpenAI behind `herma proxy`: what reaches the model and what comes back is what it would be
// without the proxy, but for a summary. `node --test` runs it with the programs on the search path.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";

const require = createRequire(join(process.env.CLIENTS, "x.js"));
const Anthropic = require("@anthropic-ai/sdk");
const OpenAI = require("openai");
const home = mkdtempSync(join(tmpdir(), "hs"));
const proxies = [];
let upstream;

/** What reached the model: path, headers and body; and which requests ended before their answers. */
const seen = [];
const gone = [];

const usage = { input_tokens: 7, output_tokens: 3 };
const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [{ type: "text", text: "hello" }], stop_reason: "end_turn", stop_sequence: null, usage };
const completion = { id: "c1", object: "chat.completion", created: 1, model: "m", choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop", logprobs: null }] };
const item = { type: "message", id: "m1", role: "assistant", status: "completed", content: [{ type: "output_text", text: "hello", annotations: [] }] };
const response = { id: "r1", object: "response", created_at: 1, model: "m", status: "completed", output: [item], usage: { input_tokens: 7, output_tokens: 3, total_tokens: 10 } };
const chunk = (delta, finish_reason) => ({ id: "c1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason }] });
const answers = {
  "/v1/messages": [message, [
    { type: "message_start", message: { ...message, content: [], stop_reason: null } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hello" } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 3 } },
    { type: "message_stop" },
  ]],
  "/v1/chat/completions": [completion, [chunk({ role: "assistant", content: "hel" }, null), chunk({ content: "lo" }, null), chunk({}, "stop")]],
  "/v1/responses": [response, [
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    { type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } },
    { type: "response.output_text.delta", item_id: "m1", output_index: 0, content_index: 0, delta: "hello" },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response },
  ]],
};

const model = createServer(async (request, reply) => {
  let body = "";
  for await (const part of request) body += part;
  seen.push({ url: request.url, headers: request.headers, body });
  reply.on("close", () => reply.writableFinished || gone.push(request.url));
  if (body.includes("too often")) {
    reply.writeHead(429, { "content-type": "application/json", "retry-after": "7", "x-request-id": "req-1" });
    return reply.end(JSON.stringify({ type: "error", error: { type: "rate_limit_error", message: "slow down" } }));
  }
  const [whole, events] = answers[request.url];
  if (!JSON.parse(body).stream) {
    reply.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip", "x-request-id": "req-2" });
    return reply.end(gzipSync(JSON.stringify(whole)));
  }
  reply.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  for (const event of events) {
    reply.write(event.type ? `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n` : `data: ${JSON.stringify(event)}\n\n`);
    if (body.includes("for ever")) return;
  }
  reply.end(request.url.includes("chat") ? "data: [DONE]\n\n" : undefined);
});

/** Starts a proxy, and returns its address and what it reports. */
const proxy = async (api, ...options) => {
  const environment = { PATH: process.env.PATH, HOME: home, HERMAD: process.env.HERMAD };
  const words = ["proxy", api, "--upstream", upstream, "--listen", "127.0.0.1:0", "--home", join(home, "home"), ...options];
  const child = spawn("herma", words, { env: environment, stdio: ["ignore", "pipe", "pipe"] });
  proxies.push(child);
  let said = "";
  child.stderr.on("data", (more) => (said += more));
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return { url: line.match(/"(http.*)"/)[1], said: () => said };
};

let through;
before(async () => {
  model.listen(0, "127.0.0.1");
  await once(model, "listening");
  upstream = `http://127.0.0.1:${model.address().port}`;
  through = { anthropic: await proxy("anthropic"), openai: await proxy("openai") };
});

after(async () => {
  for (const child of proxies) {
    child.kill("SIGTERM");
    if (child.exitCode === null) await once(child, "exit");
  }
  const stop = spawn("herma", ["daemon", "stop", "--no-spawn", "--home", join(home, "home")], { stdio: "ignore" });
  await once(stop, "exit");
  model.closeAllConnections();
  model.close();
  rmSync(home, { recursive: true });
});

const anthropic = (url) => new Anthropic({ apiKey: "key-a", baseURL: url, maxRetries: 0 });
const openai = (url) => new OpenAI({ apiKey: "key-o", baseURL: `${url}/v1`, maxRetries: 0 });
const said = (content) => [{ role: "user", content }];
const tools = [{ name: "look", description: "looks", input_schema: { type: "object" } }];

/** The ways to ask: the API, and a request that gives the whole answer, or all events of a stream. */
const ways = {
  messages: ["anthropic", (url, stream, words, options) => anthropic(url).messages.create({ model: "m", max_tokens: 9, messages: said(words), tools, stream }, options)],
  chat: ["openai", (url, stream, words, options) => openai(url).chat.completions.create({ model: "m", messages: said(words), stream }, options)],
  responses: ["openai", (url, stream, words, options) => openai(url).responses.create({ model: "m", input: words, stream }, options)],
};

const events = async (stream) => {
  const found = [];
  for await (const event of stream) found.push(event);
  return found;
};

const OF_CONNECTION = ["host", "connection", "content-length", "transfer-encoding"];

/** A request as the model got it, without what belongs to a connection. */
const got = ({ url, headers, body }) => {
  const kept = Object.entries(headers).filter(([name]) => !OF_CONNECTION.includes(name));
  return { url, headers: Object.fromEntries(kept), body };
};

for (const [name, [api, ask]] of Object.entries(ways))
  test(`${name}: request, answer, stream and error are the same`, async () => {
    for (const stream of [false, true]) {
      const results = [];
      for (const url of [upstream, through[api].url]) {
        const answer = await ask(url, stream, "hello");
        results.push(JSON.stringify(stream ? await events(answer) : answer));
      }
      assert.equal(results[1], results[0]);
      assert.deepEqual(got(seen.at(-1)), got(seen.at(-2)));
    }
    const errors = [];
    for (const url of [upstream, through[api].url])
      await ask(url, false, "too often").catch((error) => errors.push([error.constructor.name, error.status, error.message, error.headers.get("retry-after"), error.requestID]));
    assert.equal(errors.length, 2);
    assert.deepEqual(errors[1], errors[0]);
  });

for (const [name, [api, ask]] of Object.entries(ways))
  test(`${name}: a request that is aborted ends at the model`, async () => {
    const abort = new AbortController();
    const stream = await ask(through[api].url, true, "for ever", { signal: abort.signal });
    const before = gone.length;
    for await (const _ of stream) break;
    abort.abort();
    while (gone.length === before) await new Promise((done) => setTimeout(done, 20));
  });

test("a question for a summary is answered in the form that the SDK reads", async () => {
  const long = (number) => ({ role: number % 2 ? "assistant" : "user", content: `Part ${number}: never push to main. ${"The parser of dates is slow. ".repeat(200)}` });
  const talk = [...Array(20).keys()].map(long);
  const question = "You have been working on the task described above but have not yet completed it. Write a continuation summary";
  const messages = [...talk, ...said(question)];
  const before = seen.length;
  const whole = await anthropic(through.anthropic.url).messages.create({ model: "m", max_tokens: 9, messages });
  const streamed = await anthropic(through.anthropic.url).messages.stream({ model: "m", max_tokens: 9, messages }).finalMessage();
  assert.equal(seen.length, before, through.anthropic.said());
  assert.match(whole.content[0].text, /^<summary>\n\[CONTEXT COMPACTION[^]*Part 0: never push to main[^]*<\/summary>$/);
  assert.equal(streamed.content[0].text, whole.content[0].text, "a repeated question has the same answer");
  assert.equal(whole.usage.input_tokens + whole.usage.output_tokens, 0, "no model was asked");
});

test("nothing secret is in what the proxy says and keeps of itself", () => {
  const log = readFileSync(join(home, "home/herma/hermad.log"), "utf8");
  for (const text of [through.anthropic.said(), through.openai.said(), log]) assert.ok(!/key-[ao]/.test(text));
});
