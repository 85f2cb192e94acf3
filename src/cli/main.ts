// The command-line tool.

import { runCli } from "./run-cli.ts";
import { OutputClosed, writeOut } from "./sink.ts";

/** Rejects with the error of the first failed write. */
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
  // A failed write of a key or a report must not end as a success.
  if (!(error instanceof OutputClosed)) {
    console.error(`The output could not be written: ${error}`);
    process.exitCode = 1;
  }
}
