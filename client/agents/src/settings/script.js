import { spawn } from "node:child_process";

const PROGRAM = "the program";
const OPTIONS = ["its options"];
const AGENT = "the agent";
const COMPACTS = "whether herma answers compactions";

// After so many milliseconds a hook that does not end by itself is ended.
const SHORT = 5_000;
const LONG = 25_000;

const GONE =
  `herma keeps nothing of this session: its program is gone. Install herma again and run \`herma hooks install ${AGENT}\`, ` +
  `or run \`herma hooks uninstall ${AGENT}\`.`;

/** Calls a hook. Returns its answer, or nothing. */
const call = (event, value, limit = SHORT) =>
  new Promise((resolve) => {
    const child = spawn(PROGRAM, ["hook", AGENT, event, ...OPTIONS], { stdio: ["pipe", "pipe", "ignore"] });
    const timer = setTimeout(() => child.kill("SIGKILL"), limit);
    let text = "";
    const done = (answer) => {
      clearTimeout(timer);
      resolve(answer);
    };
    child.stdout.setEncoding("utf8").on("data", (part) => (text += part));
    child.stdin.on("error", () => {});
    child.on("error", (error) => done(error.code === "ENOENT" ? { systemMessage: GONE } : undefined));
    child.on("close", () => done(json(text)));
    child.stdin.end(JSON.stringify(value));
  });

const json = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Returns what an answer adds to the model's context. */
const contextOf = (answer) => answer?.hookSpecificOutput?.additionalContext;

/** Returns what replaces an output, if it is a text. */
const replacementOf = (answer) => {
  const text = answer?.hookSpecificOutput?.updatedToolOutput;
  return typeof text === "string" ? text : undefined;
};
