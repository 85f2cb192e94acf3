// Tests `npm start` with every one of its processes killed in turn: it goes on with the same data.

import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openRedis } from "../../../src/store/servers/redis.ts";
import { eventually } from "../../support/eventually.ts";
import { type Launcher, launcherHome, launchFarebox } from "../../support/product/launcher.ts";

setDefaultTimeout(300_000);

const WITHIN_MS = 120_000;

interface ProcessRecord {
  readonly pid: number;
}

interface Demo {
  readonly key: string;
}

const read = <Content>(home: string, file: string) =>
  JSON.parse(readFileSync(join(home, file), "utf8")) as Content;

const VICTIMS = {
  Redis: (home: string) => read<ProcessRecord>(home, "redis.json").pid,
  Postgres: (home: string) => read<ProcessRecord>(home, "postgres.json").pid,
  API: (home: string) => read<ProcessRecord[]>(home, "servers.json")[0]?.pid ?? 0,
  Worker: (home: string) => read<ProcessRecord[]>(home, "servers.json")[1]?.pid ?? 0,
};

async function started(farebox: Launcher): Promise<string> {
  await eventually(
    "Farebox runs",
    () => /Farebox is running\.[\s\S]*\n\nimport OpenAI/.test(farebox.output()),
    WITHIN_MS,
  );
  return read<{ base_url: string }>(farebox.home, "runtime.json").base_url;
}

async function chat(url: string, key: string): Promise<Response> {
  return await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({
      model: "farebox-guide",
      messages: [{ role: "user", content: "What is a hold?" }],
    }),
  });
}

/** The processes that connections to Redis come from, by the names in Redis. */
async function redisPeers(home: string): Promise<Set<string | undefined>> {
  const { redis_url: url } = read<{ redis_url: string }>(home, "runtime.json");
  const redis = openRedis(url);
  try {
    const list = String(await redis.call("CLIENT", ["LIST"])).trim();
    return new Set(list.split("\n").map((line) => / addr=(\S+)/.exec(line)?.[1]));
  } finally {
    redis.disconnect();
  }
}

test("each process of npm start that is killed runs again, and keeps its data", async () => {
  using home = launcherHome();
  await using farebox = launchFarebox(home.path);
  const url = await started(farebox);
  expect(await redisPeers(home.path)).toEqual(new Set([`${join(home.path, "redis.sock")}:0`]));
  const { key } = read<Demo>(home.path, "demo.json");
  let spent = 0;
  for (const [name, pidOf] of Object.entries(VICTIMS)) {
    const reply = await chat(url, key);
    expect(reply.status).toBe(200);
    spent += Number(reply.headers.get("x-svc-cost-usd"));
    const pid = pidOf(home.path);
    const before = farebox.output().length;
    process.kill(pid, "SIGKILL");
    const restarted = new RegExp(
      `${name} ended by SIGKILL; starting it again[\\s\\S]*${name} runs again\\.`,
    );
    await eventually(
      `${name} runs again`,
      () => restarted.test(farebox.output().slice(before)),
      WITHIN_MS,
    );
    expect(pidOf(home.path)).not.toBe(pid);
    await eventually(
      "paid calls are served",
      async () => {
        const ready = await fetch(`${url}/readyz`).catch(() => null);
        return ready?.status === 200;
      },
      WITHIN_MS,
    );
  }
  const me = await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${key}` } });
  const { balance } = (await me.json()) as { balance: { free_usd: number } };
  expect(balance.free_usd).toBeCloseTo(5 - spent, 9);
  expect(spent).toBeGreaterThan(0);
  expect(await farebox.stop()).toBe(0);

  // The same home with another pepper: its keys would be dead, so nothing starts.
  await using wrong = launchFarebox(home.path, { env: { KEY_PEPPER: "the pepper of a stranger" } });
  expect(await wrong.exited).toBe(1);
  expect(wrong.output()).toContain("KEY_PEPPER is not the secret that this database was used with");
  expect(wrong.output()).not.toMatch(/^ +at /m);
});
