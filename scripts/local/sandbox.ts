// Runs the payment sandbox as a process; `npm start` does so if no payment provider is set.

import { startSandbox } from "../../src/annexes/stripe-sandbox/sandbox-server.ts";
import { StartError } from "../../src/core/start-error.ts";
import { createLog } from "../../src/settings/create-log.ts";

const { SANDBOX_PORT, SANDBOX_FILE, SANDBOX_WEBHOOK, STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET } =
  process.env;
if (!SANDBOX_PORT || !SANDBOX_WEBHOOK || !STRIPE_SECRET_KEY || !STRIPE_WEBHOOK_SECRET) {
  throw new Error("The settings of the sandbox are missing; `npm start` sets them");
}

const log = createLog("sandbox", process.env.LOG_LEVEL || "info");
const options = {
  port: Number(SANDBOX_PORT),
  file: SANDBOX_FILE || null,
  secretKey: STRIPE_SECRET_KEY,
  webhook: { url: SANDBOX_WEBHOOK, secret: STRIPE_WEBHOOK_SECRET },
  now: Date.now,
  random: (count: number) => crypto.getRandomValues(new Uint8Array(count)),
  after: (delayMs: number, run: () => void) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
  log,
};
const sandbox = open();
log.info({ url: sandbox.url }, "The sandbox of payments runs; no real money moves");

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.once(signal, () => void sandbox.stop().then(() => process.exit(0)));
}

function open() {
  try {
    return startSandbox(options);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    console.error(error.message);
    process.exit(1);
  }
}
