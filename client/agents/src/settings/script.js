import { spawn } from "node:child_process";
import { readFile, stat } from "node:fs/promises";

const PROGRAM = "the program";
const OPTIONS = ["its options"];
const AGENT = "the agent";
const COMPACTS = "whether herma answers compactions";
const IS_OF_PROJECT = "whether this script is in a project";

// After so many milliseconds a hook that does not end by itself is ended.
const SHORT = 5_000;
const LONG = 25_000;

// The bytes of the largest file with a whole output, and how often it is looked at, in milliseconds.
const FILE = 32 << 20;
const TRIES = 20;
const PAUSE = 50;

const GONE =
  `herma keeps nothing of this session: its program is gone. Install herma again and run \`herma hooks install ${AGENT}\`, ` +
  `or run \`herma hooks uninstall ${AGENT}\`.`;

// Whether the program was found to be gone. Then it is not started again, and the user has been warned.
let isGone = false;

/** Calls a hook. Returns its answer, or nothing. It never fails. */
const call = (event, value, limit = SHORT) =>
  new Promise((resolve) => {
    if (isGone) return resolve(undefined);
    let timer;
    const done = (answer) => {
      clearTimeout(timer);
      resolve(answer);
    };
    try {
      const input = JSON.stringify(value);
      const child = spawn(PROGRAM, ["hook", AGENT, event, ...OPTIONS], { stdio: ["pipe", "pipe", "ignore"] });
      child.on("error", (error) => {
        isGone = error.code === "ENOENT";
        done(isGone ? { systemMessage: GONE } : undefined);
      });
      timer = setTimeout(() => {
        child.kill("SIGKILL");
        done(undefined);
      }, limit);
      let text = "";
      child.stdout.setEncoding("utf8").on("data", (part) => (text += part));
      child.stdin.on("error", () => {});
      child.on("close", () => done(json(text)));
      child.stdin.end(input);
    } catch {
      done(undefined);
    }
  });

const json = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Returns a function that does the same and never fails, because a failure would end a turn of the agent. */
const safe =
  (work) =>
  async (...values) => {
    try {
      return await work(...values);
    } catch {
      return undefined;
    }
  };

/** Returns whether this copy of the script serves a folder: that of the project, if the user's own is loaded as well. */
const claim = (folder) => {
  const copies = (globalThis[Symbol.for("herma.scripts")] ??= new Map());
  const [place, copy] = [`${AGENT} ${folder}`, { isOfProject: IS_OF_PROJECT }];
  if (IS_OF_PROJECT || !copies.get(place)?.isOfProject) copies.set(place, copy);
  return () => copies.get(place) === copy;
};

/** Returns the text of a content that is only text. */
const textOf = (content) =>
  Array.isArray(content) && content.every((part) => part?.type === "text")
    ? content.map((part) => part.text).join("\n")
    : undefined;

/**
 * Returns the whole text of an output that the agent has shortened, from the file in which the agent keeps it. The agent may
 * still be writing the file: it is whole once it has what the agent shows of the end, and grows no more.
 */
const wholeOf = async (path, shown) => {
  // Without the agent's own words, which may follow.
  const end = shown.slice(-1_500, -500);
  if (typeof path !== "string" || !end) return undefined;
  let before = -1;
  for (let tries = 0; tries < TRIES; tries++) {
    try {
      const { size } = await stat(path);
      if (size > FILE) return undefined;
      const text = size === before ? await readFile(path, "utf8") : "";
      if (text.lastIndexOf(end) > text.length - 2_500 && text.includes(end)) return text;
      before = size;
    } catch {
      return undefined;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
  return undefined;
};

/** Returns what an answer adds to the model's context. */
const contextOf = (answer) => answer?.hookSpecificOutput?.additionalContext;

/** Returns what replaces an output, if it is a text. */
const replacementOf = (answer) => {
  const text = answer?.hookSpecificOutput?.updatedToolOutput;
  return typeof text === "string" ? text : undefined;
};
