// The command-line tool.

import { runCli } from "./run-cli.ts";
import { OutputClosed, writeOut } from "./sink.ts";

/** Rejects as the first write did that failed. */
let written = Promise.resolve();

process.exitCode = await runCli(process.argv.slice(2), {
  now: Date.now,
  random: (count) => crypto.getRandomValues(new Uint8Array(count)),
  out: (line) => {
    written = Promise.all([written, writeOut(`${line}\n`)]).then(() => {});
  },
  err: (line) => console.error(line),
});

try {
  await written;
} catch (error) {
  // A key or a report that never reached its file must not look as if it had.
  if (!(error instanceof OutputClosed)) {
    console.error(`The output could not be written: ${error}`);
    process.exitCode = 1;
  }
}
