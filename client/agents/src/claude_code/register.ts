// Has herma answer Claude Code's compactions: it puts its handoff in the place of what leaves the conversation, asks
// no model, and keeps all of it for recall. Whatever goes wrong, the client's own compaction runs.
//
// Written by `herma hooks install claude-code`; `herma hooks uninstall claude-code` takes it away.

export const register = (on) => {
  on("session.compact", async ($, e, next) => {
    // What a subagent says is its own.
    if (e.agentId) return next(e);
    const asked = { trigger: e.trigger, instructions: e.instructions, messages: e.messages };
    const ran = await $.process.run(COMMAND, { stdin: JSON.stringify(asked), timeoutMs: 25000 });
    if (ran.exitCode !== 0 || !ran.stdout.trim() || ran.isStdoutTruncated) return next(e);
    const rows = new Map(e.messages.map((row) => [row.handle, row]));
    const messages = JSON.parse(ran.stdout).messages.map((row) => (row.handle ? rows.get(row.handle) : row));
    return { messages };
  }).catch(($, e, next) => next(e));
};
