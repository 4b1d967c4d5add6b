// Looks at `herma view` with Debian's Chromium: every view at three sizes of a home, its times, what axe finds, and what a
// person does with it.
//
//   look.mjs [FOLDER]    also writes the pictures of docs/view.md into the folder
//
// HERMAD names the daemon; herma is the one on the search path. CHROMIUM is the browser.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const require = createRequire(`${process.env.MODULES ?? here}/`);
const { chromium } = require("playwright-core");
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const PICTURES = process.argv[2];
const OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

// The sizes in messages, and the most milliseconds until something is painted: the median of so many visits.
const SIZES = [0, 10, 100_000];
const PAINT = 300;
const VISITS = 5;

// The most bytes of a page, whatever the home has.
const BYTES = 400_000;

let browser;
const folders = [];
const ended = [];

before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: OPTIONS });
});

after(async () => {
  await browser?.close();
  for (const end of ended.reverse()) end();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A home with a daemon, filled with so much. */
const home = (content) => {
  const folder = mkdtempSync(join(tmpdir(), "hv"));
  folders.push(folder);
  const herma = (...words) => {
    const ran = spawnSync("herma", [...words, "--home", folder], { encoding: "utf8" });
    assert.equal(ran.status, 0, `${words}: ${ran.stdout}${ran.stderr}`);
    return ran.stdout;
  };
  herma("daemon", "start");
  ended.push(() => spawnSync("herma", ["daemon", "stop", "--home", folder]));
  const filled = spawnSync("python3", [join(here, "fill.py"), join(folder, "herma", "hermad.sock"), String(content)], { encoding: "utf8" });
  assert.equal(filled.status, 0, filled.stderr);
  return { folder, herma };
};

/** A browser that has opened the page of a home. Whatever is wrong on a page is noted. */
const view = async (folder, options = [], look = {}) => {
  const process_ = spawn("herma", ["view", "--no-open", ...options, "--home", folder], { stdio: ["ignore", "pipe", "inherit"] });
  ended.push(() => process_.kill());
  let said = "";
  for await (const part of process_.stdout) if ((said += part).includes("\n")) break;
  const url = new URL(said.split("\n")[0]);
  const context = await browser.newContext({ viewport: { width: 1200, height: 850 }, ...look });
  const page = await context.newPage();
  const wrong = [];
  page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("dialog", (dialog) => wrong.push(`a dialog: ${dialog.message()}`) && dialog.dismiss());
  page.on("request", (request) => new URL(request.url()).origin === url.origin || wrong.push(`a request to ${request.url()}`));
  await page.goto(url.href);
  await page.waitForURL(url.origin + "/");
  return { page, context, wrong, to: (path) => page.goto(url.origin + path), process: process_ };
};

const found = async (page) => {
  await page.evaluate(AXE);
  const results = await page.evaluate(() => axe.run());
  const serious = results.violations.filter((one) => ["serious", "critical"].includes(one.impact));
  return serious.map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 200)}`);
};

const first = async (page, selector) => (await page.locator(selector).count()) && (await page.locator(selector).first().getAttribute("href"));

/** The addresses of all views that a home has. */
const views = async ({ page, to }) => {
  const paths = ["/", "/memory", "/memory/history?target=user", "/sessions", "/search?q=host+port", "/savings", "/outputs", "/files", "/health"];
  for (const [list, selector] of [["/sessions", 'a[href^="/session?"]'], ["/outputs", 'a[href^="/output?"]'], ["/files", 'a[href^="/file?"]']]) {
    await to(list);
    const lead = await first(page, selector);
    if (lead) paths.push(lead);
  }
  return paths;
};

test("every view of every size is painted at once, is readable by all, and is as long as a page", async () => {
  const rows = [];
  for (const size of SIZES) {
    const { folder } = home(size);
    const shown = await view(folder);
    for (const path of await views(shown)) {
      const times = [];
      let bytes = 0;
      for (let visit = 0; visit < VISITS; visit++) {
        const answer = await shown.to(path);
        assert.equal(answer.status(), 200, path);
        bytes = (await answer.body()).length;
        times.push(await shown.page.evaluate(() => new Promise((resolve) => {
          const look = () => {
            const [paint] = performance.getEntriesByName("first-contentful-paint");
            paint ? resolve(paint.startTime) : requestAnimationFrame(look);
          };
          look();
        })));
      }
      const median = times.sort((one, other) => one - other)[VISITS >> 1];
      rows.push([size, path.split("?")[0], Math.round(median), bytes]);
      assert.deepEqual(await found(shown.page), [], path);
      assert.ok(bytes < BYTES, `${path} has ${bytes} bytes`);
      assert.ok(median < PAINT, `${path} of ${size} messages was painted after ${median} ms`);
    }
    assert.deepEqual(shown.wrong, []);
  }
  console.log("messages  view                    first paint ms    bytes");
  for (const [size, path, time, bytes] of rows) console.log(`${String(size).padStart(8)}  ${path.padEnd(22)} ${String(time).padStart(15)} ${String(bytes).padStart(8)}`);
});

test("a small screen, the dark, and the keyboard", async () => {
  const { folder } = home("demo");
  const small = await view(folder, [], { viewport: { width: 360, height: 740 }, colorScheme: "dark" });
  for (const path of [...(await views(small)), "/session?id=claude-code%3Async"]) {
    await small.to(path);
    const wider = await small.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wider <= 0, `${path} is ${wider} pixels wider than the screen`);
    assert.deepEqual(await found(small.page), [], path);
  }
  await small.to("/sessions");
  await small.page.keyboard.press("Tab");
  assert.equal(await small.page.evaluate(() => document.activeElement.textContent), "Skip to the content");
  await small.page.keyboard.press("Enter");
  assert.ok((await small.page.url()).endsWith("#content"));
  assert.deepEqual(small.wrong, []);
});

test("events arrive on two pages at once, and a daemon may go and come", async () => {
  const { folder, herma } = home("demo");
  const shown = await view(folder);
  const other = await shown.context.newPage();
  await other.goto(shown.page.url());
  await shown.page.waitForTimeout(300);
  herma("memory", "add", "user", "has two pages open");
  for (const page of [shown.page, other]) {
    await page.locator("#events li").first().waitFor({ timeout: 10_000 });
    assert.match(await page.locator("#events li").first().textContent(), /user has revision/);
  }
  process.kill(Number(/pid (\d+)/.exec(herma("doctor"))[1]), "SIGKILL");
  // The page starts the next one, as any command does.
  await shown.to("/memory");
  await shown.page.getByText("has two pages open").waitFor();
  assert.deepEqual(shown.wrong.filter((words) => !words.includes("ERR_INCOMPLETE_CHUNKED_ENCODING")), []);
});

test("what an enemy wrote stays a text", async () => {
  const { folder, herma } = home(10);
  const payloads = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</pre><svg onload=alert(1)>", "javascript:alert(1)", "</title><script>alert(1)</script>"];
  payloads.forEach((payload, at) => herma("session", "open", `s${at}`, "--title", payload, "--agent", payload));
  herma("memory", "add", "memory", `the host ${payloads[1]}`);
  const shown = await view(folder, ["--write"]);
  for (const path of ["/", "/sessions", "/memory", "/memory/history?target=memory", ...payloads.map((payload) => `/search?q=${encodeURIComponent(payload)}`)]) {
    await shown.to(path);
    assert.equal(await shown.page.locator("main script, main img, main iframe").count(), 0, path);
  }
  assert.deepEqual(shown.wrong, []);
});

test("an undo is seen in the next session", async () => {
  const { folder, herma } = home("demo");
  const shown = await view(folder, ["--write"]);
  herma("session", "open", "before");
  await shown.to("/memory/history?target=memory");
  await shown.page.getByRole("button", { name: "Undo" }).click();
  await shown.page.getByText("Revision 3: undo").waitFor();
  herma("session", "open", "after");
  const snapshot = (name) => herma("session", "snapshot", name);
  assert.ok(snapshot("before").includes("branch stable") && !snapshot("after").includes("branch stable"));
  assert.deepEqual(shown.wrong, []);
});

test("pictures for the page", { skip: !PICTURES }, async () => {
  const { folder } = home("demo");
  const shown = await view(folder, ["--write"], { viewport: { width: 1000, height: 700 } });
  const session = "/session?id=claude-code%3Async";
  await shown.to(session);
  const compaction = await first(shown.page, 'a[href^="/compaction?"]');
  for (const [name, path] of [["now", "/"], ["memory", "/memory"], ["session", session], ["compaction", compaction], ["savings", "/savings"]]) {
    await shown.to(path);
    await shown.page.screenshot({ path: join(PICTURES, `${name}.png`) });
  }
});
