// Has herma keep OpenCode's sessions: it gives the model its memory, keeps what is said as it is said, takes outputs that
// are too large, and writes the summaries of compactions. Whatever goes wrong, OpenCode goes on as it would without it.

// HOOKS

// The chars of an output from which herma looks at it.
const LARGE = 20_000;

// After so many milliseconds a message that is complete is sent, because its last parts may follow, and after so many
// one that herma could not keep is sent again.
const SOON = 300;
const AGAIN = 6_000;

// So many milliseconds a message of the user that OpenCode has not saved yet is waited for, and the request for a summary
// follows its prompt.
const PENDING = 10_000;
const FOLLOWS = 5_000;

// The chars of records in one event, and of those that come with a compaction.
const PART = 4 << 20;
const ALL = 32 << 20;

// How long OpenCode waits at most for the last messages when it ends.
const ENDING = 3_000;

// What the model is asked for in the place of a summary that herma has written.
const NO_SUMMARY = "The summary is written already. Reply with the word OK, and with nothing else.";

// The beginning of the names of herma's own tools, here and in other agents.
const OWN = "herma_";
const OWN_ELSEWHERE = "mcp__herma__";

// The chars of a summary, a tenth of a window of 100,000 tokens, and the heading of its last part.
const SUMMARY = 40_000;
const LAST = "What came next, as it was said:";

const hasResult = ({ state }) => (state?.output ?? state?.error ?? null) !== null;

/** Returns the number of messages that herma makes of one of OpenCode: an answer has each output as a message. */
const countOf = ({ info, parts }) => {
  const tools = parts.filter((part) => part.type === "tool");
  const hasWords = parts.some((part) => part.type === "file" || (part.type === "text" && !part.synthetic && part.text.trim()));
  if (info.role !== "assistant") return Number(hasWords);
  if (info.summary) return 0;
  return Number(hasWords || tools.length > 0) + tools.filter(hasResult).length;
};

/** Returns a summary: the handoff, and the newest of the texts of messages that leave the window and are not in it. */
const summaryOf = ({ summary, last }, staying) => {
  const leaving = (last ?? []).slice(0, Math.max(0, (last ?? []).length - staying));
  let room = SUMMARY - summary.length;
  const from = leaving.findLastIndex((text) => (room -= text.length + 2) < 0) + 1;
  const texts = leaving.slice(from).filter(Boolean);
  return texts.length ? [summary, LAST, ...texts].join("\n\n") : summary;
};

/** Returns the key by which messages are sorted. Their ids alone do not grow for ever. */
const keyOf = (info) => `${String(info.time?.created ?? 0).padStart(16, "0")} ${info.id}`;

/** Returns what herma reads of a part: no pictures, and no snapshots. */
const slim = ({ id, type, text, synthetic, filename, tool, callID, state }) => {
  const { status, input, output, error } = state ?? {};
  return { id, type, text, synthetic, filename, tool, callID, state: state && { status, input, output, error } };
};

/** The messages of a session that herma doesn't have yet. */
class Messages {
  #byId = new Map();
  #kept = new Set();

  /** Notes a message, or what is new of it. One that is old will not change any more. */
  note(id, info, parts = [], isOld = false) {
    if (this.#kept.has(id)) return;
    const message = this.#byId.get(id) ?? { id, parts: new Map(), isOld };
    if (info) {
      // OpenCode goes on to change its own object.
      const { role, time, error, summary, modelID, tokens } = info;
      message.info = structuredClone({ id, role, time, error, summary, modelID, tokens });
      message.pending = undefined;
    }
    parts.forEach((part) => message.parts.set(part.id, slim(part)));
    this.#byId.set(id, message);
  }

  /** Notes that OpenCode is about to save a message of the user: what comes after it waits. */
  expect(info) {
    this.note(info.id, info);
    const message = this.#byId.get(info.id);
    if (message) message.pending = Date.now() + PENDING;
  }

  /** Returns whether the last part of an answer is there. What commands print comes later than the end of their message. */
  isFinished(id) {
    return [...(this.#byId.get(id)?.parts.values() ?? [])].some(({ type }) => type === "step-finish");
  }

  /** Forgets a message that the user took back. */
  remove(id) {
    this.#byId.delete(id);
  }

  /** Forgets messages up to a key. */
  forget(kept) {
    for (const [id, { info }] of this.#byId) {
      if (!info || keyOf(info) > kept) continue;
      this.#byId.delete(id);
      this.#kept.add(id);
    }
  }

  /** Returns the records of messages that will not change, oldest first, in parts of a limited size. */
  records(isIdle, size = PART) {
    const messages = [...this.#byId.values()].filter(({ info }) => info);
    messages.sort((one, other) => (keyOf(one.info) < keyOf(other.info) ? -1 : 1));
    const groups = [[]];
    let room = size;
    for (const [at, message] of messages.entries()) {
      if (message.pending > Date.now()) break;
      if (message.pending) continue;
      if (!message.isOld && !isIdle && !this.#isComplete(message, at + 1 < messages.length)) break;
      const parts = [...message.parts.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
      const record = { id: message.id, key: keyOf(message.info), info: message.info, parts };
      const chars = JSON.stringify(record).length;
      if (chars > room && groups.at(-1).length) {
        groups.push([]);
        room = size;
      }
      groups.at(-1).push(record);
      room -= chars;
    }
    return groups.filter((group) => group.length);
  }

  #isComplete({ info, parts }, isFollowed) {
    if (info.role !== "assistant") return isFollowed;
    const isRunning = [...parts.values()].some(({ state }) => state?.status === "running" || state?.status === "pending");
    return Boolean(info.time?.completed) && !isRunning;
  }
}

export const Herma = async ({ client, directory }) => {
  const isServing = claim(directory);
  const sessions = new Map();

  const of = (id) => {
    // Hooks of a session run one after the other: each goes on where the last one stopped.
    if (!sessions.has(id)) sessions.set(id, { id, messages: new Messages(), last: Promise.resolve() });
    return sessions.get(id);
  };

  const ask = async (event, session, more = {}, limit = SHORT) => {
    const { info } = session;
    const value = {
      session_id: session.id,
      parent_session_id: info?.parentID,
      cwd: info?.directory ?? directory,
      model: session.model,
      context_window: session.window,
      ...more,
    };
    const answer = await (session.last = session.last.then(() => call(event, value, limit)));
    const message = answer?.systemMessage;
    if (message) client.tui.showToast({ body: { message, variant: "warning" } }).catch(() => {});
    return answer;
  };

  const about = ({ info }) => ({ session: { title: info?.title, directory: info?.directory, parentID: info?.parentID } });

  /** Sends the messages that herma doesn't have. Those that it could not keep are sent again later. */
  const keep = (session) => (session.keeping = (session.keeping ?? Promise.resolve()).then(() => send(session)));

  const send = safe(async (session) => {
    for (const group of session.messages.records(session.isIdle)) {
      const { kept } = (await ask("stop", session, { records: [about(session), ...group] })) ?? {};
      if (typeof kept !== "string") return later(session, AGAIN);
      session.messages.forget(kept);
    }
  });

  const later = (session, milliseconds) => {
    if (isGone) return;
    clearTimeout(session.timer);
    session.timer = setTimeout(() => keep(session), milliseconds);
    session.timer.unref?.();
  };

  /** Begins with a session, once in this process: it may have been begun, or copied, in another one. */
  const begin = (session) =>
    (session.begun ??= safe(async () => {
      const path = { id: session.id };
      session.info = (await client.session.get({ path })).data;
      const said = (await client.session.messages({ path })).data ?? [];
      said.forEach(({ info, parts }) => session.messages.note(info.id, info, parts, true));
      const { kept } = (await ask("stop", session, { records: [] })) ?? {};
      if (kept) session.messages.forget(kept);
      // What a subagent is asked, a model asks.
      if (session.info?.parentID) return;
      const has = said.some(({ parts }) => parts.some((part) => part.metadata?.herma));
      const source = said.length === 0 ? "startup" : has && !kept ? "fork" : "resume";
      session.context = contextOf(await ask("session-start", session, { source }));
    })());

  /** Answers a compaction. Returns whether herma has written the summary. */
  const compact = async (session) => {
    const records = session.messages.records(true, ALL);
    if (records.length > 1) return false;
    const answer = await ask("compact", session, { records: [about(session), ...(records[0] ?? [])] }, LONG);
    if (!answer?.summary) return false;
    const newest = records[0]?.at(-1);
    if (newest) session.messages.forget(newest.key);
    const context = contextOf(await ask("session-start", session, { source: "compact" }));
    session.compacted = { context, answer, at: Date.now() };
    return true;
  };

  /** Puts the text of a summary in the place of what the model wrote. */
  const place = (output, session) => {
    output.text = session.summary;
    session.summary = undefined;
    session.isPlaced = true;
  };

  const hooks = {
    config: async (config) => {
      config.mcp ??= {};
      config.mcp.herma ??= { type: "local", command: [PROGRAM, "mcp", ...OPTIONS], enabled: true };
    },

    "chat.params": async (input) => {
      of(input.sessionID).window = input.model?.limit?.context;
    },

    "chat.message": async (input, output) => {
      const { message, parts } = output;
      const session = of(input.sessionID);
      session.model = message.model?.modelID;
      session.messages.expect(message);
      session.isIdle = false;
      await begin(session);
      if (session.info?.parentID) return;
      const said = parts.filter((part) => part.type === "text" && !part.synthetic);
      const answer = await ask("user-prompt-submit", session, { prompt: said.map((part) => part.text).join("\n") });
      const text = [session.context, contextOf(answer)].filter(Boolean).join("\n\n");
      const before = parts.at(-1);
      if (!text || !before) return;
      // OpenCode sorts the parts of a message by their ids.
      const at = { id: `${before.id}0`, sessionID: input.sessionID, messageID: message.id };
      parts.push({ ...at, type: "text", text, synthetic: true, metadata: { herma: true } });
      [session.context, session.unplaced] = [undefined, undefined];
      session.given = { id: message.id, text };
    },

    "tool.execute.after": async (input, output) => {
      const isText = typeof output?.output === "string";
      const shown = isText ? output.output : textOf(output?.content);
      if (shown === undefined || input.tool === "read") return;
      const isOwn = input.tool.startsWith(OWN);
      const { metadata } = output;
      const whole = metadata?.truncated === true ? await wholeOf(metadata.outputPath, shown) : undefined;
      if (!isOwn && whole === undefined && shown.length < LARGE) return;
      const text = replacementOf(
        await ask("post-tool-use", of(input.sessionID), {
          tool_name: isOwn ? OWN_ELSEWHERE + input.tool.slice(OWN.length) : input.tool,
          tool_use_id: input.callID,
          tool_input: input.args,
          tool_response: whole ?? shown,
          shown_chars: shown.length,
        }),
      );
      if (text === undefined) return;
      if (isText) output.output = text;
      else output.content = [{ type: "text", text }];
    },

    "experimental.session.compacting": async (input, output) => {
      const session = of(input.sessionID);
      await begin(session);
      const began = Date.now();
      if (COMPACTS && (await compact(session))) {
        output.prompt = NO_SUMMARY;
        return;
      }
      // A daemon that was too slow is not asked again.
      if (Date.now() - began > SHORT) return;
      const text = contextOf(await ask("pre-compact", session, {}, LONG));
      if (text) output.context.push(text);
    },

    "experimental.chat.messages.transform": async (_input, output) => {
      const end = output.messages.at(-1);
      const isAsked = ({ compacted }) => compacted && Date.now() - compacted.at < FOLLOWS;
      const session = end ? sessions.get(end.info.sessionID) : [...sessions.values()].find(isAsked);
      if (session?.unplaced && end) {
        const at = { id: `${end.parts.at(-1)?.id ?? "prt_"}0`, sessionID: session.id, messageID: end.info.id };
        end.parts.push({ ...at, type: "text", text: session.unplaced, synthetic: true });
      }
      if (!session || !isAsked(session)) return;
      const { context, answer } = session.compacted;
      session.compacted = undefined;
      // These messages leave the window, and those after them stay.
      const found = end && (await client.session.messages({ path: { id: session.id } }).catch(() => undefined));
      const after = (found?.data ?? []).filter(({ info }) => keyOf(info) > keyOf(end.info));
      const staying = after.reduce((sum, message) => sum + countOf(message), 0);
      session.summary = [context, summaryOf(answer, staying)].filter(Boolean).join("\n\n");
      // The request for the summary needs no conversation.
      output.messages.length = 0;
    },

    "experimental.text.complete": async (input, output) => {
      const session = sessions.get(input.sessionID);
      const isSummary = !session?.summarizing || session.summarizing === input.messageID;
      if (session?.summary && isSummary) place(output, session);
    },

    event: async ({ event: { type, properties } }) => {
      const id = properties.sessionID ?? properties.info?.sessionID ?? properties.part?.sessionID ?? properties.info?.id;
      const session = sessions.get(id);
      if (!session?.begun) return;
      const { info, part } = properties;
      switch (type) {
        case "session.updated":
          session.info = info;
          break;
        case "session.deleted":
          clearTimeout(session.timer);
          sessions.delete(id);
          break;
        case "message.updated":
          session.messages.note(info.id, info);
          if (info.role !== "assistant") break;
          if (info.summary) session.summarizing = info.id;
          if (!info.time?.completed) break;
          if (session.messages.isFinished(info.id)) keep(session);
          else later(session, SOON);
          break;
        case "message.part.updated":
          session.messages.note(part.messageID, undefined, [part]);
          break;
        case "message.removed":
          session.messages.remove(properties.messageID);
          if (session.given?.id === properties.messageID) session.context ??= session.given.text;
          break;
        case "session.compacted": {
          const { summary } = session;
          [session.summary, session.compacted, session.summarizing] = [undefined, undefined, undefined];
          // A model that said nothing left no place for the summary.
          if (summary) session.unplaced = session.context = summary;
          else if (!session.isPlaced) session.context = contextOf(await ask("session-start", session, { source: "compact" }));
          session.isPlaced = false;
          break;
        }
        case "session.status":
          session.isIdle &&= properties.status?.type !== "busy";
          break;
        case "session.idle":
          session.isIdle = true;
          [session.summary, session.compacted, session.summarizing] = [undefined, undefined, undefined];
          later(session, SOON);
          break;
      }
    },

    dispose: async () => {
      const end = safe(async (session) => {
        clearTimeout(session.timer);
        session.isIdle = true;
        await keep(session);
        await ask("session-end", session, { reason: "exit" });
      });
      const ended = Promise.all([...sessions.values()].filter(({ begun }) => begun).map(end));
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, ENDING))]);
    },
  };

  const served = (work) => safe(async (...values) => (isServing() ? work(...values) : undefined));
  return Object.fromEntries(Object.entries(hooks).map(([name, work]) => [name, served(work)]));
};
