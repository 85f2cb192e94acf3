import { expect, test } from "bun:test";
import { openRedis } from "../../../src/store/servers/redis.ts";
import { eventually } from "../../support/eventually.ts";
import { startSentinels } from "../../support/fakes/sentinels.ts";

test("a client of Sentinels leaves a master that hangs with its connections open", async () => {
  await using sentinels = await startSentinels();
  const redis = openRedis(sentinels.url);
  redis.on("error", () => {});
  try {
    await redis.set("written", "before");
    const first = await sentinels.master();
    sentinels.hang(first);
    await eventually(
      "the client writes to another master",
      async () => (await redis.set("written", "after").catch(() => null)) === "OK",
      60_000,
    );
    expect(await sentinels.master()).not.toBe(first);
    sentinels.resume(first);
  } finally {
    redis.disconnect();
  }
}, 180_000);
