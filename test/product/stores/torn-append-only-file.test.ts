// Tests an operator's own Redis, whose append-only file is not repaired before it starts: the file
// may end within a script, and commands written after that end may be lost at the next start.

import { expect, test } from "bun:test";
import type { RedisClient } from "../../../actors/scripts/script.ts";
import { eventually } from "../../support/eventually.ts";
import { expectSound, logOf } from "../../support/stores/ledger-checks.ts";
import { type PrivateRedis, startPrivateRedis } from "../../support/stores/services.ts";
import { balances, DONE, hold, openAccount, openWorld, usd } from "../../support/stores/world.ts";

const BEGIN = "*1\r\n$5\r\nMULTI\r\n";
const END = "*1\r\n$4\r\nEXEC\r\n";

/** The place at which the machine lost its power while Redis wrote its last script. */
const CUTS: Readonly<Record<string, (aof: string) => number>> = {
  "behind its first word": (aof) => aof.lastIndexOf(BEGIN) + BEGIN.length,
  "within a command": (aof) => aof.lastIndexOf(END) - 3,
  "before its last word": (aof) => aof.lastIndexOf(END),
  "within its last word": (aof) => aof.lastIndexOf(END) + 7,
};

async function startAgain(store: PrivateRedis, redis: RedisClient): Promise<void> {
  await store.start();
  await eventually("Redis answers", async () => (await redis.ping().catch(() => "")) === "PONG");
}

for (const [where, cutAt] of Object.entries(CUTS)) {
  test(`a charge after a start from a file cut ${where} of a script is kept`, async () => {
    await using store = await startPrivateRedis({ repair: false });
    await using world = await openWorld({ redisUrl: store.url });
    world.redis.on("error", () => {});
    const account = await openAccount(world, { paid: "10" });
    const spend = async () => (await hold(account, usd("1"))).settle(usd("1"), DONE);
    await spend();
    await world.flush();
    await spend();

    await store.kill9();
    const aof = store.readAof().toString("latin1");
    store.cutAof(aof.length - cutAt(aof));
    await startAgain(store, world.redis);
    await spend();
    await world.flush();
    for (let calls = 0; calls < 2; calls += 1) await spend();
    const before = await balances(account);

    await store.kill9();
    await startAgain(store, world.redis);
    await world.flush();
    expect(await balances(account)).toEqual(before);
    // The first call, and the three calls between the two starts; the hold of the cut script is
    // still open.
    expect((await logOf(world, account)).map(({ cost }) => cost)).toEqual(Array(4).fill(usd("1")));
    await expectSound(world, account);
  });
}
