// Waits until the API that `npm start` started serves paid calls.

import { join } from "node:path";
import { lastWords, sleep } from "./processes.mjs";

const READY_MS = 60_000;

/**
 * Resolves once the API is ready, or everything is being stopped.
 * @param {string} baseUrl
 * @param {{ home: string, isStopping: () => boolean }} start
 */
export async function untilReady(baseUrl, { home, isStopping }) {
  let said = "";
  for (const endMs = Date.now() + READY_MS; Date.now() < endMs; await sleep(50)) {
    if (isStopping()) return;
    const answer = await fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(2_000) }).catch(
      () => null,
    );
    if (answer?.status === 200) return;
    said = (await answer?.text().catch(() => "")) ?? said;
  }
  throw new Error(
    `${baseUrl}/readyz did not become ready within ${READY_MS / 1000} seconds. ${said}\n\n` +
      lastWords(join(home, "logs", "api.log")),
  );
}
