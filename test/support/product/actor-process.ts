// Opens processes for tests of money: on their own connections, on a clock that the test moves, and
// with a client whose scripts can be watched, delayed or sent twice.

import { AccountActors } from "../../../actors/account-actors.ts";
import type { RedisClient } from "../../../actors/scripts/script.ts";
import type { OpenScriptClient } from "../../../actors/scripts/script-runner.ts";
import { newId } from "../../../src/core/ids.ts";
import { WalletRepository } from "../../../src/store/accounts/wallet-repository.ts";
import { type Database, openDatabase } from "../../../src/store/servers/database.ts";
import { openRedis } from "../../../src/store/servers/redis.ts";
import { silent } from "../fakes/silent-log.ts";
import { random } from "../random.ts";
import type { AccountTerms } from "../stores/accounts.ts";
import type { World, WorldOptions } from "../stores/world.ts";

/** A clock that stands until the test moves it; scripts and processes use it. */
export class TestClock {
  ms: number;

  constructor(iso: string) {
    this.ms = Date.parse(iso);
  }

  readonly now = () => this.ms;

  /** The options of a world that lives by this clock. */
  get options(): WorldOptions {
    return { scriptTime: this.now, now: this.now };
  }

  set(iso: string): void {
    this.ms = Date.parse(iso);
  }

  /** Terms of an account that has every limit of its age and its payments behind it. */
  get aged(): Pick<AccountTerms, "createdAt" | "paid" | "paidAt"> {
    return { createdAt: this.daysAgo(100), paid: "500", paidAt: this.daysAgo(90) };
  }

  /** The date `days` before now, for accounts that are older. */
  daysAgo(days: number): Date {
    return new Date(this.ms - days * 86_400_000);
  }
}

export interface ActorProcess extends AsyncDisposable {
  readonly accounts: AccountActors;
  readonly redis: RedisClient;
  readonly database: Database;
}

export interface ProcessOptions extends Omit<WorldOptions, "redisUrl" | "databaseUrl"> {
  /** A Postgres that the test can hold up between its answer and the answer's use. */
  readonly repository?: ((database: Database) => WalletRepository) | undefined;
  /** A separate client for scripts, as the API has. */
  readonly openScripts?: OpenScriptClient;
}

/** Opens a second process, which shares only the two stores with the first. */
export function openProcess(
  stores: Pick<World, "redisUrl" | "databaseUrl">,
  options: ProcessOptions = {},
): ActorProcess {
  const database = openDatabase(stores.databaseUrl);
  const redis = openRedis(stores.redisUrl);
  const accounts = new AccountActors({
    redis,
    repository: options.repository?.(database) ?? new WalletRepository(database),
    now: options.now ?? Date.now,
    log: silent,
    processId: newId("process", random),
    ...(options.scriptTime === undefined ? {} : { scriptTime: options.scriptTime }),
    ...(options.openScripts && { openScripts: options.openScripts }),
  });
  return {
    accounts,
    redis,
    database,
    [Symbol.asyncDispose]: async () => {
      accounts.scripts.close();
      redis.disconnect();
      await database.close();
    },
  };
}

type Send = (...args: readonly unknown[]) => Promise<unknown>;

/** Runs `around` for every script that a client runs. */
export function tapScripts(
  redis: RedisClient,
  around: (send: () => Promise<unknown>) => Promise<unknown>,
): void {
  const { fcallBuffer } = redis as unknown as { readonly fcallBuffer: Send };
  const fcall = fcallBuffer.bind(redis) as Send;
  const tapped: Send = (...args) => around(() => fcall(...args));
  Object.defineProperty(redis, "fcallBuffer", { value: tapped, configurable: true });
}

/** Sends every script twice and returns the second answer, as a reconnected client does. */
export function sendTwice(redis: RedisClient): void {
  tapScripts(redis, async (send) => {
    const [first, second] = await Promise.allSettled([send(), send()]);
    if (first.status === "rejected") throw first.reason;
    if (second.status === "rejected") throw second.reason;
    return second.value;
  });
}

/** Stops work at one point of an interleaving until the test opens it. */
export class Gate {
  readonly #reached = Promise.withResolvers<void>();
  readonly #open = Promise.withResolvers<void>();

  /** Resolves when work waits at the gate. */
  get reached(): Promise<void> {
    return this.#reached.promise;
  }

  open(): void {
    this.#open.resolve();
  }

  async pass(): Promise<void> {
    this.#reached.resolve();
    await this.#open.promise;
  }
}
