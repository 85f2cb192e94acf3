// Neither the passwords of the stores nor their URLs reach a log, whatever goes wrong with them.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { freePort, launch, temporaryFolder } from "../../scripts/processes.mjs";
import { newKey } from "../../src/core/keys.ts";
import { eventually } from "../support/eventually.ts";
import { SECRETS } from "../support/product.ts";
import { Program } from "../support/program.ts";
import { random } from "../support/random.ts";
import { createTestDatabase, startPrivateRedis } from "../support/services.ts";

const PROJECT = join(import.meta.dir, "../..");
const CANARY = "a-password-of-5f1c09aa77be3d20";

/** The URL with the canary for its password. */
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
}, 60_000);

const FAULTS = {
  "a password that Redis does not take": async (redis: string, postgres: string) => ({
    redis: withCanary(redis),
    postgres,
  }),
  "a socket of Redis that is not there": async (_redis: string, postgres: string) => ({
    redis: `unix:///nowhere/redis.sock?password=${CANARY}`,
    postgres,
  }),
  "a Postgres that does not know the database": async (redis: string, postgres: string) => ({
    redis,
    postgres: withCanary(`${postgres}_gone`),
  }),
  "a Postgres that is not there": async (redis: string) => ({
    redis,
    postgres: `postgres://farebox:${CANARY}@127.0.0.1:${await freePort()}/farebox`,
  }),
};

for (const file of ["src/main.ts", "workers/main.ts"]) {
  for (const [fault, of] of Object.entries(FAULTS)) {
    test(`${file} ends at ${fault}, and says so without the password`, async () => {
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
        expect(text).toContain("could not start");
        expectNone(text, [redis.url, database.url]);
      } finally {
        await program.kill9();
        folder.remove();
      }
    }, 30_000);
  }
}
