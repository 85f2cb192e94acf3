// The secrets that client addresses are hashed with, one for each month. Once a secret is
// destroyed, no hash of its month can be traced to an address, not even in a backup (D-160).

import type { RandomBytes } from "../../core/ids.ts";
import type { Log } from "../../core/log.ts";
import { addMonths, monthText } from "../../core/money/months.ts";
import type { Database } from "./database.ts";

export interface IpHashSecretsDeps {
  readonly database: Database;
  /** IP_HASH_SECRET: the secrets in Postgres are useless without it. */
  readonly pepper: string;
  readonly random: RandomBytes;
  readonly now: () => number;
  readonly log: Pick<Log, "warn">;
}

const SECRET_BYTES = 32;
const LOAD_EVERY_MS = 3_600_000;

export class IpHashSecrets {
  /** The hash keys by month. */
  readonly #byMonth = new Map<string, string>();
  #timer: Timer | null = null;

  constructor(readonly deps: IpHashSecretsDeps) {}

  /** Resolves once the secret of this month is loaded, and loads each next one in time. */
  async start(): Promise<void> {
    await this.load();
    this.#timer = setInterval(() => {
      this.load().catch((error) => {
        this.deps.log.warn({ err: error }, "The next secret for IP hashes could not be loaded");
      });
    }, LOAD_EVERY_MS);
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /** Loads the secrets of this month and the next, and creates them if they do not exist. */
  async load(): Promise<void> {
    const { database, pepper, random, now } = this.deps;
    const month = monthText(now());
    for (const needed of [month, addMonths(month, 1)]) {
      if (this.#byMonth.has(needed)) continue;
      const secret = Buffer.from(random(SECRET_BYTES)).toString("hex");
      await database.sql`
        INSERT INTO ip_hash_secrets (month, secret) VALUES (${needed}, ${secret})
        ON CONFLICT (month) DO NOTHING`;
      const [row] = await database.sql`
        SELECT secret FROM ip_hash_secrets WHERE month = ${needed}`;
      if (row === undefined) throw new Error(`The secret for IP hashes of ${needed} is missing`);
      const hasher = new Bun.CryptoHasher("sha256", pepper).update(String(row.secret));
      this.#byMonth.set(needed, hasher.digest("hex"));
    }
    for (const loaded of this.#byMonth.keys()) if (loaded < month) this.#byMonth.delete(loaded);
  }

  /** The current hash key. If Postgres was away for long, this is the latest one loaded. */
  current(): string {
    const secret =
      this.#byMonth.get(monthText(this.deps.now())) ?? [...this.#byMonth.values()].at(-1);
    if (secret === undefined) throw new Error("No secret for IP hashes is loaded: call start()");
    return secret;
  }
}
