// Tests a Postgres that hangs: connections stay open, statements are taken, and none is answered.

import { expect, test } from "bun:test";
import { AccountActors } from "../../../actors/account-actors.ts";
import { WalletRepository } from "../../../src/store/accounts/wallet-repository.ts";
import { Pauses } from "../../../src/store/operators/pauses.ts";
import { openDatabase, PostgresTimeout } from "../../../src/store/servers/database.ts";
import { migrate } from "../../../src/store/servers/migrate.ts";
import { ApiWorld, chatBody, errorOf } from "../../support/api/api-world.ts";
import { eventually } from "../../support/eventually.ts";
import { wholeReply } from "../../support/fakes/scripted-chat.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { atEnd, shared } from "../../support/shared.ts";
import { startPrivatePostgres } from "../../support/stores/services.ts";
import {
  balances,
  keyDirectory,
  openAccount,
  openWorld,
  usd,
  WORLD_PEPPER,
} from "../../support/stores/world.ts";

const ANSWER_MS = 400;
const NONE = usd("0");

const postgres = await shared(startPrivatePostgres({ durable: false }));
await migrate(postgres.url);
const world = await shared(openWorld({ databaseUrl: postgres.url }));
const database = openDatabase(postgres.url, { timeoutMs: ANSWER_MS });
atEnd(() => database.close());
const { redis } = world;
const api = await shared(
  ApiWorld.start({
    accounts: new AccountActors({
      redis,
      repository: new WalletRepository(database),
      now: Date.now,
      log: silent,
      processId: "proc_silent",
    }),
    keys: keyDirectory(database, WORLD_PEPPER),
    keyPeppers: [WORLD_PEPPER],
  }),
);
atEnd(() => postgres.resume());
api.chat.reply = async () => wholeReply("Hello");

/** Lets Postgres hang while `run` runs. */
async function whileItHangs<Value>(run: () => Promise<Value>): Promise<Value> {
  postgres.hang();
  try {
    return await run();
  } finally {
    postgres.resume();
  }
}

function ask(secret: string): Promise<Response> {
  return api.post({ key: secret }, chatBody());
}

/** A busy machine may need longer than `ANSWER_MS` to load an account. */
async function untilServed(secret: string): Promise<void> {
  await eventually("the account is served", async () => (await ask(secret)).status === 200);
}

test("calls of accounts that are not loaded end in time, and nothing is charged", async () => {
  const unknown = await openAccount(world, { paid: "10" });
  const cold = await openAccount(world, { paid: "10" });
  // This process knows the key, and Redis holds no wallet.
  await untilServed(cold.key);
  const { paid, free } = await balances(cold);
  await world.flush();
  expect(await cold.actor.evict(-1)).toBe(true);
  const served = api.chat.requests.length;
  // More requests than the pool has connections.
  const keys = [unknown.key, cold.key].flatMap((secret) => Array(10).fill(secret));
  const answers = await whileItHangs(() => Promise.all(keys.map(ask)));
  // Postgres hangs until all of them have their answer.
  for (const answer of answers) {
    expect(answer.status).toBe(503);
    expect(answer.headers.get("retry-after")).toBe("1");
    expect(answer.headers.get("x-svc-cost-usd")).toBe("0");
    expect((await errorOf(answer)).code).toBe("service_unavailable");
  }
  expect(api.chat.requests).toHaveLength(served);
  expect(await balances(cold)).toEqual({ paid, free, held: NONE });
  expect(await balances(unknown)).toEqual({ paid: usd("10"), free: usd("5"), held: NONE });
  await untilServed(unknown.key);
  await untilServed(cold.key);
});

test("a loaded account is served while Postgres hangs", async () => {
  const warm = await openAccount(world, { paid: "10" });
  await untilServed(warm.key);
  const answer = await whileItHangs(() => ask(warm.key));
  expect(answer.status).toBe(200);
});

test("a recovery that Postgres does not answer fails in time", async () => {
  await world.redis.function("FLUSH");
  const account = await openAccount(world);
  const answer = await whileItHangs(() => ask(account.key));
  expect(answer.status).toBe(503);
  await untilServed(account.key);
});

test("a statement that takes too long is ended by Postgres itself", async () => {
  const sleeping = database.sql`SELECT pg_sleep(20)`.execute();
  await expect(database.withTimeout(sleeping)).rejects.toThrow();
  await expect(sleeping).rejects.toThrow("statement timeout");
  const never = new Promise(() => {});
  await expect(database.withTimeout(never)).rejects.toBeInstanceOf(PostgresTimeout);
});

test("pauses are read again once Postgres answers, and a process can stop before", async () => {
  const pauses = new Pauses({ database, log: silent });
  await pauses.start();
  await whileItHangs(async () => {
    await expect(pauses.reload()).rejects.toBeInstanceOf(PostgresTimeout);
    await pauses.stop();
  });
  await pauses.reload();
});
