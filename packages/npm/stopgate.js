#!/usr/bin/env node
// Starts the program of this platform, which npm installed beside this package.
"use strict";

const { spawn } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "stopgate.exe" : "stopgate";

let program;
try {
  program = require.resolve(`stopgate-${platform}/bin/${file}`);
} catch {
  console.error(
    `stopgate: there is no program for ${platform} here. Install it again without --omit=optional, or build it from source.`,
  );
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`stopgate: could not start ${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else {
    process.exit(code);
  }
});
