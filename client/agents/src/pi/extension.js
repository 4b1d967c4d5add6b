// Has herma keep the sessions of pi, or of Oh My Pi, which has pi's extensions: it gives the model its memory, keeps what is said
// as it is said, takes outputs that are too large, and answers compactions without a model. Whatever goes wrong, the agent goes
// on as it would without it.

// HOOKS

// The chars of an output from which herma looks at it.
const LARGE = 20_000;

// The beginning of the names of herma's own tools. Oh My Pi has one line less in it than pi.
const OWN = "mcp__herma_";

/** Returns the entries of a branch that are in the window: what an earlier compaction took out of it is no part of the next one. */
const inWindow = (branch) => {
  const last = branch.findLastIndex((entry) => entry.type === "compaction");
  if (last < 0) return branch;
  const first = branch.findIndex((entry) => entry.id === branch[last].firstKeptEntryId);
  const kept = branch.slice(first < 0 ? last : first).filter((entry) => entry.type !== "compaction");
  return [branch[last], ...kept];
};

/** Returns the file with the whole output of a command, if the agent keeps it in one. */
const fileOf = (details, session) => details?.fullOutputPath ?? session.getArtifactPath?.(details?.meta?.truncation?.artifactId);

export default function herma(pi) {
  const isServing = claim(process.cwd());
  // Hooks run one after the other: each reads on where the last one stopped.
  let last = Promise.resolve();
  // What the model gets with the next prompt, and what it got last.
  let context, given;

  const ask = async (event, ctx, more = {}, limit = SHORT) => {
    const session = ctx.sessionManager;
    const value = {
      session_id: session.getSessionId(),
      transcript_path: session.getSessionFile(),
      cwd: ctx.cwd,
      model: ctx.model?.id,
      context_window: ctx.model?.contextWindow,
      ...more,
    };
    const answer = await (last = last.then(() => call(event, value, limit)));
    if (answer?.systemMessage && ctx.hasUI) ctx.ui.notify(answer.systemMessage, "warning");
    return answer;
  };
  const on = (event, work) => pi.on(event, safe(async (...values) => (isServing() ? work(...values) : undefined)));

  try {
    pi.registerMcpServer?.("herma", { command: PROGRAM, args: ["mcp", ...OPTIONS], exposure: "direct" });
  } catch {
    // Another copy of the extension has registered it.
  }

  // The session that another one takes the place of without a shutdown.
  let current;
  const begin = async (reason, ctx) => {
    if (current) await ask("session-end", ctx, { ...current, reason });
    current = { session_id: ctx.sessionManager.getSessionId(), transcript_path: ctx.sessionManager.getSessionFile() };
    const goesOn = ctx.sessionManager.getEntries().some((entry) => entry.type === "message");
    const source = reason === "fork" ? "fork" : goesOn ? "resume" : "startup";
    context = contextOf(await ask("session-start", ctx, { source }));
  };
  on("session_start", (event, ctx) => {
    current = undefined;
    return begin(event.reason, ctx);
  });
  // Oh My Pi begins other sessions in the same process with events of their own.
  on("session_switch", (event, ctx) => begin(event.reason, ctx));
  on("session_branch", (_event, ctx) => begin("fork", ctx));

  on("before_agent_start", async (event, ctx) => {
    const isPrompt = typeof event.prompt === "string";
    const answer = isPrompt ? await ask("user-prompt-submit", ctx, { prompt: event.prompt }) : undefined;
    const content = [context, contextOf(answer)].filter(Boolean).join("\n\n");
    if (!content) return;
    [context, given] = [undefined, content];
    return { message: { customType: "herma", content, display: false } };
  });

  on("session_tree", async (_event, ctx) => {
    // The context may be in the branch that was left.
    const isThere = ({ type, customType }) => type === "compaction" || (type === "custom_message" && customType === "herma");
    if (!ctx.sessionManager.getBranch().some(isThere)) context ??= given;
  });

  on("tool_result", async (event, ctx) => {
    const isOwn = event.toolName.startsWith(OWN);
    // A file can be read again, and what a script gets is not in the window.
    if (event.toolName === "read" || event.parentToolCallId) return;
    const shown = textOf(event.content);
    if (shown === undefined) return;
    const file = event.toolName === "bash" ? await fileOf(event.details, ctx.sessionManager) : undefined;
    const whole = file ? await wholeOf(file, shown) : undefined;
    if (!isOwn && whole === undefined && shown.length < LARGE) return;
    const more = {
      tool_name: event.toolName,
      tool_use_id: event.toolCallId,
      tool_input: event.input,
      tool_response: whole ?? shown,
      shown_chars: shown.length,
    };
    const text = replacementOf(await ask("post-tool-use", ctx, more));
    if (text !== undefined) return { content: [{ type: "text", text }] };
  });

  on("turn_end", (_event, ctx) => {
    // pi waits for the handlers of this event, and need not wait for herma.
    ask("stop", ctx).catch(() => {});
  });

  on("session_shutdown", async (event, ctx) => {
    await (event.reason === "reload" ? last : ask("session-end", ctx, { reason: event.reason }));
  });

  const contextAfterCompaction = async (ctx) => contextOf(await ask("session-start", ctx, { source: "compact" }));

  on("session_before_compact", async (event, ctx) => {
    const more = { custom_instructions: event.customInstructions };
    if (!COMPACTS) {
      await ask("pre-compact", ctx, more, LONG);
      return;
    }
    const messages = ctx.sessionManager.buildContextEntries?.() ?? inWindow(event.branchEntries);
    const answer = await ask("compact", ctx, { ...more, messages }, LONG);
    if (!answer?.summary || event.signal?.aborted) return;
    // The handoff ends with a mark after which the conversation goes on.
    const summary = [await contextAfterCompaction(ctx), answer.summary].filter(Boolean).join("\n\n");
    const { firstKeptEntryId } = answer;
    return { compaction: { summary, firstKeptEntryId, tokensBefore: event.preparation.tokensBefore } };
  });

  on("session_compact", async (event, ctx) => {
    if (!event.fromExtension) context = await contextAfterCompaction(ctx);
  });
}
