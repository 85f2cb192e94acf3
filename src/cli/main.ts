// The command-line tool.

import { runCli } from "./run-cli.ts";

process.exitCode = await runCli(process.argv.slice(2), {
  now: Date.now,
  random: (count) => crypto.getRandomValues(new Uint8Array(count)),
  out: (line) => console.log(line),
  err: (line) => console.error(line),
});
