#!/usr/bin/env node
// Starts git-liza for this platform. It is in an optional package, of which npm installs the one that fits.
"use strict";
const { spawn } = require("child_process");
const os = require("os");

const name = `@git-liza/${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/git-liza${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  const known = Object.keys(require("./package.json").optionalDependencies || {});
  console.error(known.includes(name)
    ? `git liza: the package ${name} is missing; install git-liza again, without --omit=optional`
    : `git liza: there is no build for ${process.platform} on ${process.arch}; build it from source with Go`);
  process.exit(5);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (err) => {
  console.error(`git liza: ${program} can't be started: ${err.message}`);
  process.exit(5);
});
// A terminal sends its signals to the child as well; others are passed on. The child decides when to end.
for (const signal of ["SIGINT", "SIGQUIT"]) process.on(signal, () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => process.exit(signal ? 128 + os.constants.signals[signal] : code));
