// Tests the message of `npm start` about an append-only file that it had to cut.

import { expect, test } from "bun:test";
import { appendFileSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { startRedis } from "../../../scripts/local/redis.mjs";
import { launcherHome } from "../../support/product/launcher.ts";

test("the length that is cut off the append-only file of Redis is reported", async () => {
  using home = launcherHome();
  mkdirSync(join(home.path, "logs"));
  await (await startRedis({ home: home.path })).stop();
  const folder = join(home.path, "redis", "appendonlydir");
  const file = readdirSync(folder).find((name) => name.endsWith(".incr.aof")) ?? "";
  appendFileSync(join(folder, file), `*1\r\nX${"x".repeat(5_000)}`);
  const said: string[] = [];
  const redis = await startRedis({ home: home.path, progress: (line) => said.push(line) });
  await redis.stop();
  expect(said).toEqual([
    "Cut the last 5005 bytes off the append-only file of Redis, which cannot be read.",
  ]);
});
