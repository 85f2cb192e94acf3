// Makes a worker kill itself at a chosen step of a delivery of a webhook: `bun --preload` runs this
// before the program. CRASH_AT is `after-claim`, or `before-` or `after-` one of the records.

import { WebhookDeliveries } from "../../../src/store/webhooks/webhook-deliveries.ts";

type Step = "claim" | "delivered" | "failed";

function crash(): void {
  process.kill(process.pid, "SIGKILL");
}

const [when, step] = (process.env.CRASH_AT ?? "").split("-") as ["before" | "after", Step];
const original: (this: WebhookDeliveries, ...args: never[]) => Promise<unknown> =
  WebhookDeliveries.prototype[step];

async function armed(this: WebhookDeliveries, ...args: never[]): Promise<unknown> {
  if (when === "before") crash();
  const result = await original.apply(this, args);
  // A worker looks every second, and most of its looks claim nothing.
  if (!Array.isArray(result) || result.length > 0) crash();
  return result;
}

Object.defineProperty(WebhookDeliveries.prototype, step, { value: armed, configurable: true });
