// Opens many streams and reads them for a time without closing any. Prints a line when all are
// open.

import type { HoldPlan } from "./load.ts";
import { requestOf, VARIANTS } from "./requests.ts";

const OPENED_AT_ONCE = 20;

const plan = JSON.parse(process.argv[2] ?? "") as HoldPlan;
let next = 0;

await Promise.all(Array.from({ length: OPENED_AT_ONCE }, openInTurn));
console.log("open");
await Bun.sleep(plan.holdMs);
// The sockets close when this process exits, so every call ends by a disconnect.
process.exit(0);

async function openInTurn(): Promise<void> {
  while (next < plan.streams) {
    const caller = plan.callers[next % plan.callers.length];
    const kind = { model: plan.model, stream: true };
    const { body, headers } = requestOf(kind, next++ % VARIANTS);
    const response = await fetch(plan.url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers, ...caller },
      body,
    });
    if (response.status !== 200 || response.body === null) {
      throw new Error(`${response.status}: ${await response.text()}`);
    }
    const pieces = response.body[Symbol.asyncIterator]();
    await pieces.next();
    void readOn(pieces);
  }
}

async function readOn(pieces: AsyncIterator<Uint8Array>): Promise<void> {
  while (!(await pieces.next()).done);
  console.error("An open stream ended unexpectedly");
}
