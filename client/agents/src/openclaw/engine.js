// Has herma be OpenClaw's context engine: it gives the model its memory, keeps each turn, takes outputs that are too large,
// and compacts without a model. Whatever goes wrong, OpenClaw goes on as it would without it.
import { createHash } from "node:crypto";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

// HOOKS

// The chars of an output from which herma looks at it.
const LARGE = 20_000;

// The beginning of the names of herma's own tools, as OpenClaw and the hooks have it.
const OWN = "herma__";
const OWN_OF_HOOKS = "mcp__herma__";

// What is in the key of a session that OpenClaw begins for itself, with a copy of another one.
const INTERNAL = ":internal-session-effects:";

// An id that a hook takes as it is.
const PLAIN = /^[A-Za-z0-9][\w-]{0,63}$/;

// The roles of messages that herma keeps.
const ROLES = ["user", "assistant", "toolResult"];

// The number of the newest message of each session that this process knows to be kept.
const kept = new Map();

const idOf = (id) => (PLAIN.test(id) ? id : createHash("sha256").update(String(id)).digest("hex").slice(0, 32));
const isInternal = ({ sessionKey }) => String(sessionKey).includes(INTERNAL);
const pad = (number) => String(number).padStart(12, "0");
const timeOf = (message) => new Date(message.timestamp ?? 0).toISOString();
const sizeOf = (messages) => Math.ceil(JSON.stringify(messages).length / 4);
const recordOf = (id, message) => ({ type: "message", id, parentId: null, timestamp: timeOf(message), message });

export default {
  id: "herma",
  name: "herma",
  register(api) {
    api.registerContextEngine("herma", (context) => engine(context ?? {}));
    try {
      api.registerAgentToolResultMiddleware(safe(shorten), { runtimes: ["openclaw"] });
    } catch {
      // Without it large outputs stay as they are.
    }
  },
};

/** Gives the preview of a large output to the model. */
const shorten = async (event, context) => {
  const shown = textOf(event.result?.content);
  // A file can be read again.
  if (event.toolName === "read" || shown === undefined || shown.length < LARGE) return;
  const more = {
    session_id: idOf(context.sessionId),
    tool_name: event.toolName.startsWith(OWN) ? OWN_OF_HOOKS + event.toolName.slice(OWN.length) : event.toolName,
    tool_use_id: event.toolCallId,
    tool_input: event.args,
    tool_response: shown,
  };
  const text = replacementOf(await call("post-tool-use", more));
  if (text === undefined) return;
  const { details } = event.result;
  // It has the whole text once more.
  const shorter = typeof details?.aggregated === "string" ? { ...details, aggregated: text } : details;
  return { result: { ...event.result, content: [{ type: "text", text }], details: shorter } };
};

/** An engine serves one turn of a session. */
const engine = ({ agentDir, workspaceDir }) => {
  // What this engine adds to the system prompt of its turn.
  let addition;

  const event = (params, more) => ({
    session_id: idOf(params.sessionId),
    cwd: workspaceDir,
    model: params.model ?? params.runtimeContext?.modelId,
    context_window: params.runtimeContext?.modelContextWindow,
    ...more,
  });

  /** The file with what the last compaction of a session left. */
  const path = ({ sessionId }) => join(agentDir, "herma", `${idOf(sessionId)}.json`);

  /** Returns the last compaction of a session, if these messages still begin with what it covers. */
  const compactionOf = async (params, messages) => {
    const saved = json(await readFile(path(params), "utf8").catch(() => ""));
    const last = messages[saved?.covered - 1];
    return last && timeOf(last) === saved.last ? saved : undefined;
  };

  const save = async (params, compaction) => {
    await mkdir(join(agentDir, "herma"), { recursive: true, mode: 0o700 });
    const draft = `${path(params)}.new`;
    await writeFile(draft, JSON.stringify(compaction), { mode: 0o600 });
    await rename(draft, path(params));
  };

  const begin = async (params) => {
    if (isInternal(params)) return "";
    const isFirst = !params.messages?.length;
    const given = contextOf(await call("session-start", event(params, { source: "startup" })));
    // The first turn also gets what earlier sessions have on it.
    const isPrompt = isFirst && typeof params.prompt === "string";
    const more = isPrompt ? contextOf(await call("user-prompt-submit", event(params, { prompt: params.prompt }))) : "";
    return [given, more].filter(Boolean).join("\n\n");
  };

  /** Returns what OpenClaw's own memory plugin says in a system prompt, which only the engine can add. */
  const ownMemory = safe(async ({ availableTools, citationsMode, sessionKey }) => {
    const { buildMemorySystemPromptAddition: build } = await import("openclaw/plugin-sdk/core");
    return build({ availableTools: availableTools ?? new Set(), citationsMode, agentSessionKey: sessionKey });
  });

  /** Returns the session's messages, as OpenClaw keeps them. */
  const transcript = async (params) => {
    const { agentId, sessionKey, sessionId } = { agentId: "main", ...params.sessionTarget, ...params };
    const { readSessionTranscriptVisibleMessageDelta: read } = await import("openclaw/plugin-sdk/session-transcript-runtime");
    const entries = [];
    for (let cursor, hasMore = true; hasMore; ) {
      const page = await read({ agentId, sessionKey, sessionId, ...(cursor && { cursor }) });
      if (page.kind !== "page") break;
      entries.push(...page.entries.filter(({ message }) => ROLES.includes(message?.role)));
      hasMore = page.hasMore && page.cursor !== cursor;
      cursor = page.cursor;
    }
    return entries;
  };

  /** Returns the result of a compaction by herma, or nothing. */
  const compacted = safe(async (params) => {
    const messages = (await transcript(params)).map(({ message }) => message);
    const before = (await compactionOf(params, messages))?.covered ?? 0;
    const rows = messages.map((message, at) => recordOf(String(at), message)).slice(before);
    const more = { messages: rows, custom_instructions: params.customInstructions };
    const answer = await call("compact", event(params, { context_window: params.tokenBudget, ...more }), LONG);
    const covered = Number(answer?.firstKeptEntryId);
    if (!answer?.summary || !(covered > before)) return;
    await save(params, { covered, last: timeOf(messages[covered - 1]), summary: answer.summary });
    // What is frozen of the memory is frozen anew.
    await call("session-start", event(params, { source: "compact" }));
    const tokensAfter = sizeOf([answer.summary, ...messages.slice(covered)]);
    return { tokensBefore: params.currentTokenCount ?? sizeOf(messages), tokensAfter, summary: answer.summary };
  });

  return {
    info: {
      id: "herma",
      name: "herma",
      version: "1",
      ownsCompaction: COMPACTS,
      transcriptSemantics: {
        currentTurnFence: "before-current-turn-entry-v1",
        turnAdvancementIdempotency: "atomic-idempotent-v1",
      },
    },
    bootstrap: async () => ({ bootstrapped: true }),
    maintain: async () => ({ changed: false, bytesFreed: 0, rewrittenEntries: 0 }),
    // Turns come with `commitTurn`.
    ingest: async () => ({ ingested: true }),

    async assemble(params) {
      const all = params.messages ?? [];
      addition ??= [await ownMemory(params), await safe(begin)(params)].filter(Boolean).join("\n\n");
      const saved = COMPACTS ? await safe(compactionOf)(params, all) : undefined;
      // Before a later call of the model, the list begins with the summary already.
      const messages = saved
        ? [{ role: "user", content: saved.summary, timestamp: Date.parse(saved.last) }, ...all.slice(saved.covered)]
        : all;
      return { messages, estimatedTokens: sizeOf(messages), ...(addition && { systemPromptAddition: addition }) };
    },

    async commitTurn(params) {
      if (isInternal(params)) return { status: "committed" };
      // A turn before may not be kept yet, so everything is sent that is newer than what is.
      const entries = (await transcript(params)).filter(({ seq }) => !(seq <= kept.get(path(params))));
      const records = entries.map(({ seq, message }) => ({ key: pad(seq), ...recordOf(pad(seq), message) }));
      if (!records.length) return { status: "committed" };
      const about = { type: "session", id: idOf(params.sessionId), timestamp: records[0].timestamp, cwd: workspaceDir };
      const answer = await call("stop", event(params, { records: [about, ...records] }));
      if (answer?.kept >= records.at(-1).key) kept.set(path(params), entries.at(-1).seq);
      // OpenClaw commits the turn again before the next one.
      else if (!isGone) throw new Error("herma's daemon does not answer");
      return { status: "committed" };
    },

    async compact(params) {
      const result = COMPACTS ? await compacted(params) : undefined;
      if (result) return { ok: true, compacted: true, reason: "herma", result };
      await safe(rm)(path(params), { force: true });
      const { delegateCompactionToRuntime } = await import("openclaw/plugin-sdk/core");
      return delegateCompactionToRuntime(params);
    },

    dispose: async () => {},
  };
};
