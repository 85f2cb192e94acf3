// Tests `farebox api` and `farebox worker`: the processes as production runs them, with only the
// settings of the environment.

import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../../scripts/local/processes.mjs";
import { eventually } from "../../support/eventually.ts";
import { atEnd, shared, sharedFolder } from "../../support/shared.ts";
import { startPrivateRedis, testDataDirectory } from "../../support/stores/services.ts";
import { openWorld, WORLD_PEPPER } from "../../support/stores/world.ts";

const PROJECT = join(import.meta.dir, "../../..");
const SESSION_SECRET = "a session secret that is long enough";
const home = sharedFolder("processes");
const children: Bun.Subprocess[] = [];
const redis = await shared(startPrivateRedis());
const world = await shared(openWorld());
atEnd(async () => {
  // Ends processes that a failed test left running.
  for (const child of children) child.kill("SIGTERM");
  await Promise.all(children.map(({ exited }) => exited));
});

function start(args: readonly string[], env: Record<string, string> = {}) {
  const child = Bun.spawn(["node", "scripts/farebox.mjs", ...args], {
    cwd: PROJECT,
    env: {
      PATH: process.env.PATH ?? "",
      FAREBOX_HOME: home,
      FAREBOX_DATA: testDataDirectory(),
      ...env,
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  children.push(child);
  return child;
}

async function settings(): Promise<Record<string, string>> {
  return {
    REDIS_URL: redis.url,
    DATABASE_URL: world.databaseUrl,
    KEY_PEPPER: WORLD_PEPPER,
    IP_HASH_SECRET: "test secret of sixteen",
    METRICS_PORT: "0",
  };
}

/**
 * Waits for the last line of its start; reads its log to the end, because a full pipe would stop
 * the process.
 */
async function untilServes({ stdout }: ReturnType<typeof start>): Promise<void> {
  let log = "";
  const reading = stdout.pipeThrough(new TextDecoderStream()).pipeTo(
    new WritableStream({
      write(text) {
        log += text;
      },
    }),
  );
  reading.catch((error: unknown) => {
    log += String(error);
  });
  await eventually("it serves", () => log.includes("Metrics are served"), 90_000);
}

test("a command with --json reports as JSON too that no Farebox runs", async () => {
  const child = start(["audit", "--json"]);
  const [code, out] = await Promise.all([child.exited, new Response(child.stdout).text()]);
  const message = expect.stringContaining("No Farebox runs");
  expect([code, JSON.parse(out)]).toEqual([1, { error: { code: "config", message } }]);
});

test("without settings each process names every missing one", async () => {
  for (const name of ["api", "worker"]) {
    const child = start([name]);
    const [code, err] = await Promise.all([child.exited, new Response(child.stderr).text()]);
    expect(code).toBe(1);
    for (const variable of ["REDIS_URL", "DATABASE_URL", "KEY_PEPPER", "IP_HASH_SECRET"]) {
      expect(err).toContain(variable);
    }
  }
});

test("no process starts on a schema of an earlier release, and it names the step", async () => {
  const { sql } = world.database;
  const [last] = await sql`
    DELETE FROM drizzle.__drizzle_migrations
    WHERE id = (SELECT max(id) FROM drizzle.__drizzle_migrations) RETURNING *`;
  try {
    for (const name of ["api", "worker"]) {
      const child = start([name], await settings());
      const [code, err] = await Promise.all([child.exited, new Response(child.stderr).text()]);
      expect([name, code, err]).toEqual([
        name,
        1,
        "Postgres does not have the schema of this release yet: run `farebox migrate` " +
          "(docs/upgrading.md). Migrations that are missing: 1.\n",
      ]);
    }
  } finally {
    await sql`INSERT INTO drizzle.__drizzle_migrations ${sql(last ?? {})}`;
  }
});

test("a signal ends a process in order, even one that still waits for a store", async () => {
  for (const name of ["api", "worker"]) {
    const connected = Promise.withResolvers<void>();
    using silent = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: { open: () => connected.resolve(), data: () => {} },
    });
    const DATABASE_URL = `postgres://farebox@127.0.0.1:${silent.port}/farebox`;
    const child = start([name], { ...(await settings()), DATABASE_URL });
    await connected.promise;
    child.kill("SIGTERM");
    expect([name, await child.exited]).toEqual([name, 0]);
  }
});

test("a .env of the folder in which a process or command is started is not read", async () => {
  writeFileSync(join(home, ".env"), "KEY_PEPPER=short\nCONSOLE_URL=nothing\n");
  const INIT_CWD = home;
  const child = start(["api"], { INIT_CWD });
  expect(await child.exited).toBe(1);
  expect(await new Response(child.stderr).text()).toContain("KEY_PEPPER is not set");
  const command = start(["account", "find"], { ...(await settings()), INIT_CWD });
  expect([await command.exited, await new Response(command.stderr).text()]).toEqual([0, ""]);
});

test("a process takes no arguments, and reports any", async () => {
  const child = start(["api", "--port", "80"]);
  const [code, err] = await Promise.all([child.exited, new Response(child.stderr).text()]);
  expect([code, err]).toEqual([1, expect.stringContaining("settings are environment variables")]);
});

test("two API processes share one port, and one goes on when the other stops", async () => {
  const port = String(await freePort());
  const env = { ...(await settings()), PORT: port, FAREBOX_DATA: home, SESSION_SECRET };
  const first = start(["api"], env);
  const second = start(["api"], env);
  const isReady = async () => {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null);
    return response?.status === 200;
  };
  await Promise.all([untilServes(first), untilServes(second)]);
  expect(await isReady()).toBe(true);
  // In production, the process itself must build the pages.
  const page = await fetch(`http://127.0.0.1:${port}/dashboard`);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("<!doctype")]);
  first.kill("SIGTERM");
  expect(await first.exited).toBe(0);
  await eventually("the other answers", isReady);
  expect(second.exitCode).toBeNull();
  second.kill("SIGTERM");
  expect(await second.exited).toBe(0);
}, 150_000);

test("an API that shares no port never takes calls of another one", async () => {
  const port = String(await freePort());
  const env = { ...(await settings()), PORT: port, PORT_SHARED: "false" };
  const first = start(["api"], env);
  await untilServes(first);
  for (const PORT_SHARED of ["false", "true"]) {
    const second = start(["api"], { ...env, PORT_SHARED });
    const [code, err] = await Promise.all([second.exited, new Response(second.stderr).text()]);
    expect([code, err]).toEqual([1, expect.stringContaining(port)]);
  }
  first.kill("SIGTERM");
  expect(await first.exited).toBe(0);
});
