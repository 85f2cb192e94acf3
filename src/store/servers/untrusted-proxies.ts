// Remembers that requests came through a proxy on this machine that TRUSTED_PROXIES does not name.

import { DAY_MS } from "../../core/durations.ts";
import type { Log } from "../../core/log.ts";
import { Attempts } from "../people/attempts.ts";
import type { Database } from "./database.ts";

const KEPT_MS = 30 * DAY_MS;
const LOCAL = ["127.0.0.1", "::1"] as const;

const keyOf = (address: string) => `untrusted_proxy ${address}`;

export class UntrustedProxies {
  readonly #attempts: Attempts;

  constructor(
    database: Database,
    readonly now: () => number,
  ) {
    this.#attempts = new Attempts(database);
  }

  /** Warns of the proxy in the log, and remembers the proxy for a month for `farebox doctor`. */
  report(address: string, log: Pick<Log, "warn">): void {
    log.warn({ address }, "A proxy on this machine is not in TRUSTED_PROXIES: its callers are one");
    this.#attempts
      .add(keyOf(address), this.now(), KEPT_MS)
      .catch((err: unknown) => log.warn({ err }, "An untrusted proxy was not remembered"));
  }

  /** A warning of each proxy that was reported lately. */
  async warnings(isTrusted: (address: string) => boolean): Promise<string[]> {
    const seen = await Promise.all(
      LOCAL.map(
        async (address) =>
          !isTrusted(address) && (await this.#attempts.has(keyOf(address), this.now())),
      ),
    );
    return LOCAL.filter((_, index) => seen[index]).map(warningOf);
  }
}

function warningOf(address: string): string {
  return (
    `Requests came through a proxy at ${address} that TRUSTED_PROXIES does not name: limits and ` +
    `allowlists take all its callers for one address. Set TRUSTED_PROXIES=${address}`
  );
}
