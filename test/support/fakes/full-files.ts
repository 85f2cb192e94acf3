// Opens as many files as a process may have, and then needs a thread. The program prints the
// results of three requests: with no file left, with one, and with all of them.

import { closeSync, openSync } from "node:fs";
import { ThreadClient } from "../../../src/upstream/thread-client.ts";
import type { EchoRequest, EchoSetup } from "./echo-thread.ts";
import { realClock } from "./fake-clock.ts";
import { silent } from "./silent-log.ts";

const client = new ThreadClient<EchoSetup, EchoRequest, string>({
  name: "The test thread",
  start: () => new Worker(new URL("./echo-thread.ts", import.meta.url)),
  setup: {},
  pendingMax: 3,
  openMs: 20_000,
  silenceMs: 20_000,
  restartMs: 0,
  clock: realClock,
  log: { ...silent, error: (_, message) => console.log(message) },
});

function openAll(): number[] {
  const files: number[] = [];
  try {
    for (;;) files.push(openSync("/dev/null", "r"));
  } catch {
    return files;
  }
}

const report = async () => console.log(await client.request({ echo: "served" }).catch(String));

const files = openAll();
await report();
closeSync(files.pop() ?? -1);
await report();
for (const file of files) closeSync(file);
await report();
client.close();
