// Tests that neither the passwords of the stores nor their URLs reach a log, whatever goes wrong
// with them.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { freePort, launch, temporaryFolder } from "../../../scripts/local/processes.mjs";
import { newKey } from "../../../src/core/access/keys.ts";
import { eventually } from "../../support/eventually.ts";
import { SECRETS } from "../../support/product/product.ts";
import { Program } from "../../support/product/program.ts";
import { random } from "../../support/random.ts";
import { createTestDatabase, startPrivateRedis } from "../../support/stores/services.ts";

const PROJECT = join(import.meta.dir, "../../..");
const CANARY = "a-password-of-5f1c09aa77be3d20";

/** The URL with the canary as its password. */
function withCanary(url: string): string {
  const changed = new URL(url);
  changed.password = CANARY;
  return changed.href;
}

async function environment(stores: { readonly redis: string; readonly postgres: string }) {
  return {
    ...SECRETS,
    REDIS_URL: stores.redis,
    DATABASE_URL: stores.postgres,
    PORT: String(await freePort()),
    METRICS_PORT: "0",
  };
}

function expectNone(text: string, urls: readonly string[]): void {
  for (const secret of [CANARY, ...urls.map((url) => new URL(url).password)]) {
    expect(secret.length).toBeGreaterThan(20);
    for (const form of [secret, btoa(secret).slice(0, -4)]) expect(text).not.toContain(form);
  }
}

test("stores that go away are logged without their passwords", async () => {
  const folder = temporaryFolder("farebox-test-log-");
  await using redis = await startPrivateRedis();
  await using database = await createTestDatabase();
  const logFile = join(folder.path, "api.log");
  const env = await environment({ redis: redis.url, postgres: database.url });
  const api = new Program({ name: "api", file: "src/main.ts", env, logFile });
  await api.start();
  try {
    await database.drop();
    const headers = { authorization: `Bearer ${newKey("gateway", random)}` };
    const ask = () => fetch(`http://127.0.0.1:${env.PORT}/v1/me`, { headers });
    expect((await ask()).status).toBe(503);
    await redis.kill9();
    expect((await ask()).status).toBe(503);
    await eventually("the loss is logged", () => {
      return api.log.some(({ msg }) => msg === "Redis is not reachable");
    });
  } finally {
    await api.stop();
    const text = readFileSync(logFile, "utf8");
    folder.remove();
    expectNone(text, [redis.url, database.url]);
    expect(text).toContain("ECONNREFUSED");
    expect(text).toContain("A request failed");
    // Drizzle's errors list the values of the statement, such as addresses of people.
    expect(text).not.toContain("params: ");
  }
});

const FAULTS = {
  "a password that Redis does not take": {
    of: async (redis: string, postgres: string) => ({ redis: withCanary(redis), postgres }),
    words: "Redis refuses the user or the password: WRONGPASS",
  },
  "a socket of Redis that is not there": {
    of: async (_redis: string, postgres: string) => ({
      redis: `unix:///nowhere/redis.sock?password=${CANARY}`,
      postgres,
    }),
    words: "Redis cannot be reached: check its address",
  },
  "a Redis that could lose money": {
    of: async (redis: string, postgres: string) => {
      const client = new Redis(redis);
      await client.config("SET", "appendfsync", "everysec");
      client.disconnect();
      return { redis, postgres };
    },
    words: "Redis runs with 'appendfsync everysec' and could lose money: set 'appendfsync always'",
  },
  "a Postgres that does not know the database": {
    of: async (redis: string, postgres: string) => ({
      redis,
      postgres: withCanary(`${postgres}_gone`),
    }),
    words: "Postgres refuses the connection, check DATABASE_URL: password ",
  },
  "a Postgres that is not there": {
    of: async (redis: string) => ({
      redis,
      postgres: `postgres://farebox:${CANARY}@127.0.0.1:${await freePort()}/farebox`,
    }),
    words: "Postgres cannot be reached: check its address (DATABASE_URL) and firewalls",
  },
};

for (const file of ["src/main.ts", "workers/main.ts"]) {
  for (const [fault, { of, words }] of Object.entries(FAULTS)) {
    test(`${file} ends at ${fault}, and reports it in words, without the password`, async () => {
      const folder = temporaryFolder("farebox-test-log-");
      await using redis = await startPrivateRedis();
      await using database = await createTestDatabase();
      const logFile = join(folder.path, "program.log");
      const env = await environment(await of(redis.url, database.url));
      const program = launch({
        name: "program",
        command: [process.execPath, file],
        env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
        cwd: PROJECT,
        logFile,
      });
      try {
        expect((await program.exited).code).not.toBe(0);
        const text = readFileSync(logFile, "utf8");
        expect(text.trimEnd().split("\n").at(-1)).toStartWith(words);
        expectNone(text, [redis.url, database.url]);
      } finally {
        await program.kill9();
        folder.remove();
      }
    });
  }
}
