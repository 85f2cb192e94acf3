// Delivers the sandbox's events as Stripe does: signed, at least once, and again until they are
// taken.

import { createHmac } from "node:crypto";
import type { Clock } from "../../core/clock.ts";
import type { Log } from "../../core/log.ts";
import type { SandboxObject, SandboxStore } from "./sandbox-store.ts";

export interface WebhookTarget {
  readonly url: string;
  readonly secret: string;
}

export interface SandboxWebhooksOptions {
  readonly store: SandboxStore;
  readonly target: WebhookTarget;
  readonly after: Clock["after"];
  readonly log: Pick<Log, "info" | "warn">;
}

const RETRY_MS = 2_000;
const TIMEOUT_MS = 5_000;

export class SandboxWebhooks {
  #isStopped = false;
  #callOff = () => {};
  /** The delivery in progress. */
  #running: Promise<void> | null = null;

  constructor(readonly options: SandboxWebhooksOptions) {}

  /** Delivers the waiting events, until all are taken. */
  start(): void {
    if (this.#isStopped) return;
    this.#running ??= this.#deliverAll().finally(() => {
      this.#running = null;
      const { undelivered } = this.options.store;
      if (undelivered.length > 0 && !this.#isStopped) {
        this.#callOff = this.options.after(RETRY_MS, () => this.start());
      }
    });
  }

  add(event: SandboxObject): void {
    const { store } = this.options;
    store.setUndelivered([...store.undelivered, event.id]);
    // Runs after the action that caused the event has ended.
    queueMicrotask(() => this.start());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#callOff();
    await this.#running;
  }

  async #deliverAll(): Promise<void> {
    const { store } = this.options;
    const refused = new Set<string>();
    for (;;) {
      const id = store.undelivered.find((one) => !refused.has(one));
      if (id === undefined || this.#isStopped) return;
      const event = store.find(id);
      if (event !== null && !(await this.deliver(event))) refused.add(id);
      else store.setUndelivered(store.undelivered.filter((one) => one !== id));
      store.save();
    }
  }

  /** Sends an event once; true if it was taken. */
  async deliver(event: SandboxObject): Promise<boolean> {
    const { store, target, log } = this.options;
    const body = JSON.stringify(event);
    const signature = signatureOf(body, target.secret, store.nowSeconds);
    try {
      const response = await fetch(target.url, {
        method: "POST",
        headers: { "content-type": "application/json", "stripe-signature": signature },
        body,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      await response.arrayBuffer();
      return response.ok;
    } catch (error) {
      log.warn({ err: error }, "The webhook is not reachable; the event is sent again");
      return false;
    }
  }
}

/** The header by which Stripe signs a body. */
export function signatureOf(body: string, secret: string, seconds: number): string {
  const signed = createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex");
  return `t=${seconds},v1=${signed}`;
}
