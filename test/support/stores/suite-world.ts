import { afterAll, beforeAll } from "bun:test";
import type { World } from "./world.ts";

/** Opens the world of one suite of several in a file, from its first test to its last. */
export function suiteWorld(open: () => Promise<World>): World {
  let opened: World | null = null;
  const world = (): World => {
    if (opened === null) throw new Error("The world opens before the first test");
    return opened;
  };
  const close = () => world()[Symbol.asyncDispose]();
  beforeAll(async () => {
    opened = await open();
  }, 60_000);
  afterAll(close);
  return {
    get redis() {
      return world().redis;
    },
    get redisUrl() {
      return world().redisUrl;
    },
    get database() {
      return world().database;
    },
    get databaseUrl() {
      return world().databaseUrl;
    },
    get accounts() {
      return world().accounts;
    },
    get store() {
      return world().store;
    },
    get payments() {
      return world().payments;
    },
    process: (parts) => world().process(parts),
    flush: () => world().flush(),
    [Symbol.asyncDispose]: close,
  };
}
