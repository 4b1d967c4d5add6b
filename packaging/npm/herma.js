#!/usr/bin/env node
// Starts herma's program for this machine, which npm installed as a package of its own.
"use strict";

const { spawnSync } = require("node:child_process");
const { constants } = require("node:os");

const platform = `${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`herma-${platform}/bin/herma`);
} catch {
  console.error(
    `herma: npm has no program for ${platform}, or optional packages were left out.\n` +
      "Install with optional packages (npm install --include=optional), or with pip: pip install herma",
  );
  process.exit(1);
}
const ended = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (ended.error) {
  console.error(`herma: ${program}: ${ended.error.message}`);
  process.exit(1);
}
process.exit(ended.signal ? 128 + constants.signals[ended.signal] : ended.status);
