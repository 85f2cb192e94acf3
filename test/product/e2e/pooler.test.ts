// Tests the product behind PgBouncer in transaction mode. Skipped if PgBouncer is missing and
// cannot be installed.

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { loadStoreConfig } from "../../../src/settings/config.ts";
import { Pauses } from "../../../src/store/operators/pauses.ts";
import { type Database, openDatabase } from "../../../src/store/servers/database.ts";
import { checkDirect } from "../../../src/store/servers/pooler-check.ts";
import { postChat } from "../../support/api/chat-client.ts";
import { eventually } from "../../support/eventually.ts";
import { hasPooler, startPooler } from "../../support/fakes/pooler.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { type Product, SECRETS, startProduct } from "../../support/product/product.ts";
import { cliProcess } from "../../support/product/run-cli.ts";
import { createTestDatabase } from "../../support/stores/services.ts";

setDefaultTimeout(300_000);

const CALLS = 200;
const AT_ONCE = 20;

async function farebox(product: Product, env: object, ...args: readonly string[]) {
  const options = { env: { ...product.env, ...env } };
  const { out, code } = await cliProcess([...args, "--json"], options);
  return { code, answer: JSON.parse(out) };
}

describe.skipIf(!hasPooler())("behind PgBouncer in transaction mode", () => {
  test("calls, flush, credit, pauses and audit work", async () => {
    await using database = await createTestDatabase();
    await using pooler = await startPooler(database.url);
    const env = {
      DATABASE_URL: pooler.url,
      DATABASE_POOLER: "transaction",
      DATABASE_DIRECT_URL: database.url,
    };
    await using product = await startProduct({ apis: 2, databaseUrl: database.url, env });
    const account = await product.account({ paid: "100", contract: "enterprise" });
    const call = async (index: number) => {
      const { url } = product.api(index % 2);
      const reply = await postChat(url, account.key, { model: "ok", stream: false, maxTokens: 5 });
      await reply.text();
      return reply.status;
    };
    const told: number[] = [];
    for (let made = 0; made < CALLS; made += AT_ONCE) {
      told.push(...(await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => call(at)))));
    }
    expect(told.filter((status) => status === 200)).toHaveLength(CALLS);
    const adjust = ["account", "adjust", account.id, "--usd", "3", "--reason", "test"];
    expect((await farebox(product, env, ...adjust)).answer).toMatchObject({ applied: true });
    // A notification, which arrives only on a direct connection.
    await farebox(product, env, "service", "pause", "chat");
    await eventually("chat is paused", async () => (await call(0)) === 503, 9_000);
    const log = product.programs.flatMap((program) => program.log);
    expect(log.filter(({ msg }) => /could not be flushed|job failed/i.test(msg))).toEqual([]);
    await product.booked();
    expect((await farebox(product, env, "audit")).answer).toMatchObject({ ok: true, accounts: 1 });
    expect((await product.audit()).difference).toBeNull();
  });

  test("each of many statements at once gets its own answer", async () => {
    await using database = await createTestDatabase();
    await using pooler = await startPooler(database.url);
    const pools = Array.from({ length: 6 }, () =>
      openDatabase(pooler.url, { directUrl: database.url, connectionsMax: 2 }),
    );
    const ask = async ({ sql }: Database, index: number) => {
      const at = new Date(index * 1_000).toISOString();
      const [[one], [number], [time]] = await Promise.all([
        sql`SELECT 'one' AS value`,
        sql`SELECT ${index} * interval '1 second' = make_interval(secs => ${index}) AS value`,
        sql`SELECT ${at}::timestamptz AS value`,
      ]);
      return [one?.value, number?.value, time?.value] as const;
    };
    for (let round = 0; round < 20; round++) {
      const answers = await Promise.all(
        Array.from({ length: 120 }, (_, index) => ask(pools[index % 6] as Database, index)),
      );
      for (const [index, [one, number, time]] of answers.entries()) {
        expect([one, number, new Date(time).getTime()]).toEqual(["one", true, index * 1_000]);
      }
    }
    await Promise.all(pools.map((pool) => pool.close()));
  });

  test("notifications come over the direct connection, at once", async () => {
    await using database = await createTestDatabase();
    await using pooler = await startPooler(database.url);
    const pooled = openDatabase(pooler.url, { directUrl: database.url });
    const other = openDatabase(database.url);
    const pauses = new Pauses({ database: pooled, log: silent, reloadMs: 3_600_000 });
    try {
      await pauses.start();
      await new Pauses({ database: other, log: silent }).pause("maps");
      await eventually("the pause is known", () => pauses.isPaused("maps"));
    } finally {
      await pauses.stop();
      await Promise.all([pooled.close(), other.close()]);
    }
  });

  test("a pooler that the settings do not name is refused in words, and the reverse", async () => {
    await using database = await createTestDatabase();
    await using pooler = await startPooler(database.url);
    await checkDirect(database.url, null);
    await checkDirect(pooler.url, database.url);
    await expect(checkDirect(pooler.url, null)).rejects.toThrow(
      "DATABASE_URL leads to a connection pooler, such as PgBouncer",
    );
    await expect(checkDirect(pooler.url, pooler.url)).rejects.toThrow(
      "DATABASE_DIRECT_URL leads to a connection pooler",
    );
  });
});

test("each of the two settings of a pooler needs the other", () => {
  const env = { ...SECRETS, REDIS_URL: "redis://x", DATABASE_URL: "postgres://x" };
  expect(() => loadStoreConfig({ ...env, DATABASE_POOLER: "transaction" })).toThrow(
    "DATABASE_DIRECT_URL is not set; DATABASE_POOLER needs it",
  );
  expect(() => loadStoreConfig({ ...env, DATABASE_DIRECT_URL: "postgres://y" })).toThrow(
    "DATABASE_DIRECT_URL is set; it needs DATABASE_POOLER=transaction",
  );
});
