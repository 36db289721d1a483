#!/usr/bin/env node
// Starts the program of the package for this system, under the name of this script.
"use strict";
const { spawn } = require("child_process");
const path = require("path");

const platform = `${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "rustomize.exe" : "rustomize";
let program;
try {
  program = require.resolve(`@rustomize/${platform}/bin/${file}`);
} catch {
  console.error(
    `rustomize: the package @rustomize/${platform} is not installed. ` +
      "Either there is no program for this system, or npm was told to omit optional dependencies: " +
      "npm install --include=optional rustomize"
  );
  process.exit(1);
}

const argv0 = path.basename(process.argv[1], ".cjs");
const child = spawn(program, process.argv.slice(2), { stdio: "inherit", argv0 });
child.on("error", (error) => {
  console.error(`rustomize: ${program}: ${error.message}`);
  process.exit(1);
});
// A terminal sends Ctrl-C to the program, too: this process waits for its end.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (status, signal) => {
  if (signal === null) process.exit(status);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
