// Has herma keep OpenCode's sessions: it gives the model its memory, keeps what is said as it is said, takes outputs that
// are too large, and writes the summaries of compactions. Whatever goes wrong, OpenCode goes on as it would without it.
//
// Written by `herma hooks install opencode`; `herma hooks uninstall opencode` takes it away.

import { readFile, stat } from "node:fs/promises";
// HOOKS

// The chars of an output from which herma looks at it, and the bytes of the largest file with a whole output.
const LARGE = 20_000;
const FILE = 32 << 20;

// After so many milliseconds messages that herma could not keep are sent again.
const AGAIN = 6_000;

// The chars of records in one event.
const PART = 4 << 20;

// What the model is asked for in the place of a summary that herma has written.
const NO_SUMMARY = "The summary is written already. Reply with the word OK, and with nothing else.";

// The beginning of the names of herma's own tools, here and in other agents.
const OWN = "herma_";
const OWN_ELSEWHERE = "mcp__herma__";

// The chars of a summary, a tenth of a window of 100,000 tokens, and the heading of its last part.
const SUMMARY = 40_000;
const LAST = "What came next, as it was said:";

/** Returns the number of messages that herma makes of one of OpenCode: an answer has each output as a message. */
const countOf = ({ info, parts }) => {
  const tools = parts.filter((part) => part.type === "tool");
  const hasWords = parts.some((part) => part.type === "file" || (part.type === "text" && !part.synthetic && part.text.trim()));
  if (info.role !== "assistant") return Number(hasWords);
  if (info.summary) return 0;
  return Number(hasWords || tools.length > 0) + tools.filter(({ state }) => state?.output ?? state?.error).length;
};

/** Returns a summary: the handoff, and the newest of the texts of messages that leave the window and are not in it. */
const summaryOf = ({ summary, last }, staying) => {
  const leaving = (last ?? []).slice(0, Math.max(0, (last ?? []).length - staying));
  let room = SUMMARY - summary.length;
  const from = leaving.findLastIndex((text) => (room -= text.length + 2) < 0) + 1;
  const texts = leaving.slice(from).filter(Boolean);
  return texts.length ? [summary, LAST, ...texts].join("\n\n") : summary;
};

/** Returns the whole output of a tool that OpenCode has shortened, from the file in which OpenCode keeps it. */
const wholeOf = async ({ metadata }) => {
  const path = metadata?.truncated === true ? metadata.outputPath : undefined;
  try {
    return path && (await stat(path)).size <= FILE ? await readFile(path, "utf8") : undefined;
  } catch {
    return undefined;
  }
};

/** Returns whether OpenCode will not change a message any more. */
const isComplete = ({ info }, isFollowed) =>
  info.role === "assistant" ? Boolean(info.time?.completed || info.error) : isFollowed;

/** The newest messages of a session, by their ids, which grow. */
class Messages {
  #byId = new Map();

  /** Notes a message, or what is new of it. */
  note(id, info, parts = []) {
    const message = this.#byId.get(id) ?? { id, parts: new Map() };
    message.info = info ?? message.info;
    parts.forEach((part) => message.parts.set(part.id, part));
    this.#byId.set(id, message);
  }

  /** Forgets messages up to an id. */
  forget(kept) {
    for (const id of this.#byId.keys()) if (id <= kept) this.#byId.delete(id);
  }

  /** Returns the records of messages that will not change, oldest first, in parts of a limited size. */
  records(isIdle) {
    const messages = [...this.#byId.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
    const parts = [[]];
    let room = PART;
    for (const [at, message] of messages.entries()) {
      if (!message.info || !isComplete(message, isIdle || at + 1 < messages.length)) break;
      const sorted = [...message.parts.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
      const record = { id: message.id, info: message.info, parts: sorted };
      const size = JSON.stringify(record).length;
      if (size > room && parts.at(-1).length) {
        parts.push([]);
        room = PART;
      }
      parts.at(-1).push(record);
      room -= size;
    }
    return parts.filter((part) => part.length);
  }
}

export const Herma = async ({ client, directory }) => {
  // Hooks run one after the other: each reads on where the last one stopped.
  let last = Promise.resolve();
  const sessions = new Map();

  const of = (id) => {
    if (!sessions.has(id)) sessions.set(id, { id, messages: new Messages() });
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
    const answer = await (last = last.then(() => call(event, value, limit)));
    const message = answer?.systemMessage;
    if (message) client.tui.showToast({ body: { message, variant: "warning" } }).catch(() => {});
    return answer;
  };

  /** Sends the messages that herma doesn't have. Those that it could not keep are sent again the next time. */
  const keep = async (session, isIdle) => {
    const { title, directory: folder, parentID } = session.info ?? {};
    for (const part of session.messages.records(isIdle)) {
      const records = [{ session: { title, directory: folder, parentID } }, ...part];
      const { kept } = (await ask("stop", session, { records })) ?? {};
      if (typeof kept !== "string") return again(session, isIdle);
      session.messages.forget(kept);
    }
  };

  const again = (session, isIdle) => {
    clearTimeout(session.timer);
    session.timer = setTimeout(() => keep(session, isIdle), AGAIN);
    session.timer.unref?.();
  };

  /** Begins with a session, once in this process: it may have been begun, or copied, in another one. */
  const begin = (session) =>
    (session.begun ??= (async () => {
      const path = { id: session.id };
      session.info = (await client.session.get({ path })).data;
      const said = (await client.session.messages({ path })).data ?? [];
      said.forEach(({ info, parts }) => session.messages.note(info.id, info, parts));
      const { kept } = (await ask("stop", session, { records: [] })) ?? {};
      if (kept) session.messages.forget(kept);
      // What a subagent is asked, a model asks.
      if (session.info?.parentID) return;
      const has = said.some(({ parts }) => parts.some((part) => part.metadata?.herma));
      const source = said.length === 0 ? "startup" : has && !kept ? "fork" : "resume";
      session.context = contextOf(await ask("session-start", session, { source }));
    })().catch(() => {}));

  return {
    config: async (config) => {
      config.mcp ??= {};
      config.mcp.herma ??= { type: "local", command: [PROGRAM, "mcp", ...OPTIONS], enabled: true };
    },

    "chat.params": async (input) => {
      const session = of(input.sessionID);
      session.window = input.model?.limit?.context;
    },

    "chat.message": async (input, output) => {
      const { message, parts } = output;
      const session = of(input.sessionID);
      session.model = message.model?.modelID;
      await begin(session);
      if (session.info?.parentID) return;
      const said = parts.filter((part) => part.type === "text" && !part.synthetic);
      const answer = await ask("user-prompt-submit", session, { prompt: said.map((part) => part.text).join("\n") });
      const text = [session.context, contextOf(answer)].filter(Boolean).join("\n\n");
      session.context = undefined;
      const before = parts.at(-1);
      if (!text || !before) return;
      // OpenCode sorts the parts of a message by their ids.
      const place = { id: `${before.id}0`, sessionID: input.sessionID, messageID: message.id };
      parts.push({ ...place, type: "text", text, synthetic: true, metadata: { herma: true } });
    },

    "tool.execute.after": async (input, output) => {
      if (typeof output.output !== "string" || input.tool === "read") return;
      const isOwn = input.tool.startsWith(OWN);
      const whole = await wholeOf(output);
      if (!isOwn && whole === undefined && output.output.length < LARGE) return;
      const text = replacementOf(
        await ask("post-tool-use", of(input.sessionID), {
          tool_name: isOwn ? OWN_ELSEWHERE + input.tool.slice(OWN.length) : input.tool,
          tool_use_id: input.callID,
          tool_input: input.args,
          tool_response: whole ?? output.output,
          shown_chars: output.output.length,
        }),
      );
      if (text !== undefined) output.output = text;
    },

    "experimental.session.compacting": async (input, output) => {
      const session = of(input.sessionID);
      await begin(session);
      await keep(session, true);
      const answer = COMPACTS ? await ask("compact", session, {}, LONG) : undefined;
      if (!answer?.summary) {
        const text = contextOf(await ask("pre-compact", session, {}, LONG));
        if (text) output.context.push(text);
        return;
      }
      const context = contextOf(await ask("session-start", session, { source: "compact" }));
      session.compacted = { context, answer };
      output.prompt = NO_SUMMARY;
    },

    "experimental.chat.messages.transform": async (_input, output) => {
      const end = output.messages.at(-1)?.info;
      const session = sessions.get(end?.sessionID);
      if (!session?.compacted) return;
      const { context, answer } = session.compacted;
      session.compacted = undefined;
      // These messages leave the window, and those after them stay.
      const all = (await client.session.messages({ path: { id: session.id } }).catch(() => ({}))).data ?? [];
      const staying = all.filter(({ info }) => info.id > end.id).reduce((sum, message) => sum + countOf(message), 0);
      session.summary = [context, summaryOf(answer, staying)].filter(Boolean).join("\n\n");
      // The request for the summary needs no conversation.
      output.messages.length = 0;
    },

    "experimental.text.complete": async (input, output) => {
      const session = sessions.get(input.sessionID);
      if (!session?.summary) return;
      output.text = session.summary;
      session.summary = undefined;
    },

    event: async ({ event: { type, properties } }) => {
      const id = properties.sessionID ?? properties.info?.sessionID ?? properties.part?.sessionID ?? properties.info?.id;
      const session = sessions.get(id);
      if (!session?.begun) return;
      switch (type) {
        case "session.updated":
          session.info = properties.info;
          break;
        case "message.updated":
          session.messages.note(properties.info.id, properties.info);
          if (isComplete({ info: properties.info }, false)) keep(session, false);
          break;
        case "message.part.updated":
          session.messages.note(properties.part.messageID, undefined, [properties.part]);
          break;
        case "session.compacted":
          // A model that said nothing left no place for the summary.
          if (session.summary) session.context = session.summary;
          else if (!COMPACTS) session.context = contextOf(await ask("session-start", session, { source: "compact" }));
          session.summary = undefined;
          break;
        case "session.idle":
          [session.summary, session.compacted] = [undefined, undefined];
          await keep(session, true);
          break;
      }
    },

    dispose: async () => {
      for (const session of sessions.values()) {
        if (!session.begun) continue;
        await keep(session, true);
        await ask("session-end", session, { reason: "exit" });
      }
    },
  };
};
