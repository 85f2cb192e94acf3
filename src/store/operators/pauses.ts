// The services and models that an operator has paused. Every process keeps the whole set and is
// notified of each change.

import { asc, eq } from "drizzle-orm";
import { SERVICE_NAMES } from "../../core/access/services.ts";
import type { Log } from "../../core/log.ts";
import type { Database } from "../servers/database.ts";
import { pauses } from "../tables/schema.ts";

const MODEL_TARGET = /^model:[\x21-\x7e]{1,200}$/;
const CHANNEL = "pauses";
/** The set is read again this often: a notification may be lost with its connection. */
const RELOAD_MS = 10_000;

/** True for the name of a service and for `model:ID`. */
export function isPauseTarget(text: string): boolean {
  return SERVICE_NAMES.some((service) => service === text) || MODEL_TARGET.test(text);
}

export interface PausesDeps {
  readonly database: Database;
  readonly log: Pick<Log, "warn">;
  readonly reloadMs?: number;
}

export class Pauses {
  #targets: ReadonlySet<string> = new Set();
  #loading: Promise<void> | null = null;
  #loadAgain = false;
  #hasStopped = false;
  #timer: Timer | null = null;
  #unlisten: (() => Promise<void>) | null = null;

  constructor(readonly deps: PausesDeps) {}

  /** Loads the set and follows its changes until `stop`. Rejects if Postgres does not answer. */
  async start(): Promise<void> {
    this.#hasStopped = false;
    await this.reload();
    this.#unlisten = await this.deps.database.listen(CHANNEL, {
      onChange: () => this.#refresh(),
      onRefused: (error) => {
        this.deps.log.warn({ err: error }, "Changes of the pauses are not announced");
      },
    });
    this.#timer = setInterval(() => this.#refresh(), this.deps.reloadMs ?? RELOAD_MS);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    this.#hasStopped = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    const unlisten = this.#unlisten;
    this.#unlisten = null;
    // If Postgres does not answer, closing the connection ends it too.
    if (unlisten !== null) await this.deps.database.withTimeout(unlisten()).catch(() => {});
  }

  /** True if the target is paused, as far as this process knows. Works without Postgres. */
  isPaused(target: string): boolean {
    // Mostly nothing is paused, and then the name of a target need not be looked up.
    return this.#targets.size > 0 && this.#targets.has(target);
  }

  /** The number of paused targets, as far as this process knows. */
  get count(): number {
    return this.#targets.size;
  }

  /** Everything that is paused, read from Postgres. */
  async list(): Promise<string[]> {
    return (await this.rows()).map((row) => row.target);
  }

  /** Everything that is paused, and since when. */
  async rows(): Promise<{ readonly target: string; readonly since: Date }[]> {
    return await this.deps.database.db.select().from(pauses).orderBy(asc(pauses.target));
  }

  /** Pauses a target on every process. False if the target was paused already. */
  async pause(target: string): Promise<boolean> {
    checkTarget(target);
    const { db } = this.deps.database;
    const added = await db.insert(pauses).values({ target }).onConflictDoNothing().returning();
    await this.reload();
    return added.length > 0;
  }

  /** Resumes a target on every process. False if the target was not paused. */
  async resume(target: string): Promise<boolean> {
    checkTarget(target);
    const { db } = this.deps.database;
    const removed = await db.delete(pauses).where(eq(pauses.target, target)).returning();
    await this.reload();
    return removed.length > 0;
  }

  /** Reads the set again. Simultaneous calls share one query that starts after the last call. */
  reload(): Promise<void> {
    if (this.#loading !== null) {
      this.#loadAgain = true;
      return this.#loading;
    }
    this.#loading = this.#load().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  async #load(): Promise<void> {
    do {
      this.#loadAgain = false;
      const targets = new Set(await this.deps.database.withTimeout(this.list()));
      // A set that was being read when this stopped may be one from after it.
      if (!this.#hasStopped) this.#targets = targets;
    } while (this.#loadAgain);
  }

  /** Without Postgres, the last known set stays in force. */
  #refresh(): void {
    this.reload().catch((error) => {
      this.deps.log.warn({ err: error }, "The pauses could not be reloaded");
    });
  }
}

function checkTarget(target: string): void {
  if (isPauseTarget(target)) return;
  throw new RangeError(`'${target}' must be one of ${SERVICE_NAMES.join(", ")} or model:ID`);
}
