import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ContentKeys } from "../../../src/store/mail/content-keys.ts";
import { openRedis } from "../../../src/store/servers/redis.ts";
import { rewriteAppendOnlyFiles } from "../../../workers/append-only-rewrite.ts";
import { eventually } from "../../support/eventually.ts";
import { silent } from "../../support/fakes/silent-log.ts";
import { startPrivateRedis } from "../../support/stores/services.ts";

const SECRET = "a-key-that-nobody-may-find-again";
const KEPT = "a-key-of-a-message-that-waits---";

/** The text of all files that Redis writes. */
function filesOf(dir: string): string {
  const folder = join(dir, "appendonlydir");
  return readdirSync(folder)
    .map((file) => latin1Text(join(folder, file)))
    .join("");
}

/** Empty if Redis has removed the file since it was listed. */
function latin1Text(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
}

test("a destroyed content key leaves the append-only file, a needed one stays", async () => {
  await using store = await startPrivateRedis();
  const redis = openRedis(store.url);
  try {
    const keys = new ContentKeys(redis);
    await keys.put("msg_1", Buffer.from(SECRET));
    await keys.put("msg_2", Buffer.from(KEPT));
    expect(await rewriteAppendOnlyFiles({ redis, keys, log: silent })).toBe(false);
    await keys.destroy("msg_1");
    expect(filesOf(store.dir)).toContain(SECRET);
    expect(await rewriteAppendOnlyFiles({ redis, keys, log: silent })).toBe(true);
    await eventually("the file is rewritten", () => !filesOf(store.dir).includes(SECRET));
    expect(String(await keys.find("msg_2"))).toBe(KEPT);
    // No key was destroyed since.
    expect(await rewriteAppendOnlyFiles({ redis, keys, log: silent })).toBe(false);
  } finally {
    redis.disconnect();
  }
});

test("a key destroyed during a rewrite of the file leaves it with the next one", async () => {
  await using store = await startPrivateRedis();
  const redis = openRedis(store.url);
  try {
    const keys = new ContentKeys(redis);
    await keys.put("msg_1", Buffer.from(SECRET));
    await redis.config("SET", "rdb-key-save-delay", 500_000);
    await redis.bgrewriteaof();
    await redis.config("SET", "rdb-key-save-delay", 0);
    await keys.destroy("msg_1");
    const run = () => rewriteAppendOnlyFiles({ redis, keys, log: silent });
    expect(await run()).toBe(false);
    await eventually("the file is rewritten once more", run);
    await eventually("the key is gone", () => !filesOf(store.dir).includes(SECRET));
    expect(await run()).toBe(false);
  } finally {
    redis.disconnect();
  }
});
