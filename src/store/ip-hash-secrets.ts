// The secret that client addresses are hashed with: another one each month. Once it is destroyed,
// the hashes of its month lead to no address, wherever a copy of them may be (D-160).

import type { RandomBytes } from "../core/ids.ts";
import type { Log } from "../core/log.ts";
import { addMonths, monthOf } from "../core/months.ts";
import type { Database } from "./database.ts";

export interface IpHashSecretsDeps {
  readonly database: Database;
  /** IP_HASH_SECRET: without it, what is in Postgres hashes nothing. */
  readonly pepper: string;
  readonly random: RandomBytes;
  readonly now: () => number;
  readonly log: Pick<Log, "warn">;
}

const SECRET_BYTES = 32;
const LOAD_EVERY_MS = 3_600_000;

export class IpHashSecrets {
  /** By month, what addresses are hashed with. */
  readonly #byMonth = new Map<string, string>();
  #timer: Timer | null = null;

  constructor(readonly deps: IpHashSecretsDeps) {}

  /** Resolves once the secret of this month is known; goes on to know each next one in time. */
  async start(): Promise<void> {
    await this.load();
    this.#timer = setInterval(() => {
      this.load().catch((error) => {
        this.deps.log.warn({ err: error }, "The next secret of IP hashes is not known yet");
      });
    }, LOAD_EVERY_MS);
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /** Makes the secrets of this month and the next, unless another process did. */
  async load(): Promise<void> {
    const { database, pepper, random, now } = this.deps;
    const month = monthOf(now());
    for (const wanted of [month, addMonths(month, 1)]) {
      if (this.#byMonth.has(wanted)) continue;
      const made = Buffer.from(random(SECRET_BYTES)).toString("hex");
      await database.sql`
        INSERT INTO ip_hash_secrets (month, secret) VALUES (${wanted}, ${made})
        ON CONFLICT (month) DO NOTHING`;
      const [row] = await database.sql`
        SELECT secret FROM ip_hash_secrets WHERE month = ${wanted}`;
      if (row === undefined) throw new Error(`The secret of IP hashes of ${wanted} is gone`);
      const hasher = new Bun.CryptoHasher("sha256", pepper).update(String(row.secret));
      this.#byMonth.set(wanted, hasher.digest("hex"));
    }
    for (const known of this.#byMonth.keys()) if (known < month) this.#byMonth.delete(known);
  }

  /** What addresses are hashed with now: after a long loss of Postgres still the last one known. */
  current(): string {
    const secret =
      this.#byMonth.get(monthOf(this.deps.now())) ?? [...this.#byMonth.values()].at(-1);
    if (secret === undefined) throw new Error("No secret of IP hashes is known: start() first");
    return secret;
  }
}
