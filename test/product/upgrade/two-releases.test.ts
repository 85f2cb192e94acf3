// Tests a deploy without a pause: a release serves under load, the stores are migrated, a later
// release starts beside it, and the earlier one is stopped. Every call is answered whole and
// charged once.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort, temporaryFolder } from "../../../scripts/local/processes.mjs";
import { audit } from "../../../src/accounts/audit.ts";
import { toUuid } from "../../../src/core/ids.ts";
import { describe as inWords } from "../../../src/core/journal/audit-finding.ts";
import { AuditRepository } from "../../../src/store/audit/audit.ts";
import { askChat, postChat, readStream } from "../../support/api/chat-client.ts";
import { eventually } from "../../support/eventually.ts";
import { startFakeUpstream } from "../../support/fakes/fake-upstream.ts";
import { Api, openOperator, SECRETS } from "../../support/product/product.ts";
import { Program } from "../../support/product/program.ts";
import {
  startPrivatePostgres,
  startPrivateRedis,
  testDataDirectory,
} from "../../support/stores/services.ts";
import { type Balancer, startBalancer } from "./balancer.ts";
import { earlierTags, openEarlierRelease } from "./earlier-release.ts";
import { openNextBuild } from "./next-build.ts";

const PROJECT = join(import.meta.dir, "../../..");
/** Some 4 seconds long, so that streams are open whenever a process is stopped. */
const STREAM = "tokens-40-every-100";
const CALLERS = 6;
const STREAMERS = 4;
/** Calls that are answered before the next step of the deploy. */
const STEP = 40;

interface Release {
  readonly name: string;
  /** The folder with its files. */
  readonly folder: string;
  /** The folder with its data. */
  readonly data: string;
}

let resources: AsyncDisposableStack;
let env: Record<string, string>;
let logs: string;
beforeEach(async () => {
  resources = new AsyncDisposableStack();
  const folder = temporaryFolder("farebox-test-releases-");
  resources.defer(() => folder.remove());
  logs = folder.path;
  const redis = resources.use(await startPrivateRedis());
  const postgres = resources.use(await startPrivatePostgres());
  const upstream = await startFakeUpstream({ record: false });
  resources.defer(() => upstream.stop());
  const config = join(folder.path, "catalogue.json");
  writeFileSync(config, JSON.stringify(catalogueOf(upstream.baseUrl)));
  env = {
    ...SECRETS,
    REDIS_URL: redis.url,
    DATABASE_URL: postgres.url,
    METRICS_PORT: "0",
    FAREBOX_CONFIG: config,
    // As behind a load balancer, which must see that a process is leaving before it has left.
    DRAIN_NOTICE_SECONDS: "2",
  };
});
afterEach(() => resources.disposeAsync());

const GUARANTEE = "loses no call and charges none twice";

test(`a deploy to a release with a newer layout ${GUARANTEE}`, async () => {
  const next = resources.use(await openNextBuild());
  await deploy(present(), { name: "next", folder: next.folder, data: ownData() });
});

const tags = earlierTags();
for (const tag of tags) {
  test(`a deploy from ${tag} ${GUARANTEE}`, async () => {
    const { folder } = resources.use(openEarlierRelease(tag));
    await deploy({ name: "earlier", folder, data: ownData() }, present());
  });
}
if (tags.length === 0) {
  test.skip(`a deploy from the first release ${GUARANTEE} (git has no tag of a release)`, () => {});
}

function present(): Release {
  return { name: "present", folder: PROJECT, data: testDataDirectory() };
}

async function deploy(earlier: Release, later: Release): Promise<void> {
  await farebox(earlier, "migrate");
  const { id, key } = await openAccount(earlier);
  const before = await startRelease(earlier);
  await using balancer = await startBalancer();
  balancer.add(before.api.port);
  await eventually("the earlier release serves", () => isServed(balancer, key));
  const load = startLoad(balancer, key);
  await load.more(STEP);

  await farebox(later, "migrate");
  const after = await startRelease(later);
  balancer.add(after.api.port);
  await eventually("the later release serves", () => balancer.sent.has(after.api.port));
  await load.more(STEP);

  await Promise.all([before.api.stop(), before.worker.stop()]);
  expect(await before.api.exited).toEqual({ code: 0, signal: null });
  expect(await before.worker.exited).toEqual({ code: 0, signal: null });
  await load.more(STEP);
  const calls = await load.end();

  expect(calls.filter(({ isWhole }) => !isWhole)).toEqual([]);
  expect(balancer.sent.get(before.api.port)).toBeGreaterThan(STEP);
  expect(balancer.sent.get(after.api.port)).toBeGreaterThan(STEP);
  await expectCharged(id, calls);
  await farebox(later, "migrate", "--finish");
  expect(await isServed(balancer, key)).toBe(true);
  expect(await farebox(later, "audit")).toMatchObject({ difference: null });
}

interface Call {
  readonly requestId: string;
  readonly cost: bigint;
  /** True if it was answered with 200, to its end. */
  readonly isWhole: boolean;
}

/** Starts callers and streamers that go on until they are stopped. */
function startLoad({ url }: Balancer, key: string) {
  const calls: Call[] = [];
  let isOver = false;
  const caller = async () => {
    while (!isOver) {
      const { status, cost, requestId } = await askChat(url, key, { model: "ok" });
      calls.push({ requestId, cost: cost ?? 0n, isWhole: status === 200 });
    }
  };
  const streamer = async () => {
    while (!isOver) {
      const response = await postChat(url, key, { model: "stream", stream: true });
      const { requestId, cost, code, isWhole } = await readStream(response);
      calls.push({ requestId, cost: cost ?? 0n, isWhole: isWhole && code === null });
    }
  };
  const all = [
    ...Array.from({ length: CALLERS }, caller),
    ...Array.from({ length: STREAMERS }, streamer),
  ];
  // A failed caller is reported when the load ends, not before it is awaited.
  const ended = Promise.allSettled(all);
  return {
    /** Waits for this many further answers. */
    more: async (count: number) => {
      const goal = calls.length + count;
      await eventually(`${goal} calls are answered`, () => calls.length >= goal, 60_000);
    },
    end: async () => {
      isOver = true;
      for (const end of await ended) if (end.status === "rejected") throw end.reason;
      return calls;
    },
  };
}

/** Requires one charge in the ledger for each call, equal to its caller's cost, and right books. */
async function expectCharged(accountId: string, calls: readonly Call[]): Promise<void> {
  const operator = openOperator(env.REDIS_URL ?? "", env.DATABASE_URL ?? "");
  try {
    const { database, actors, flush } = operator;
    const redis = actors.scripts.redis;
    const repository = new AuditRepository(database);
    const report = await audit({ redis, repository, graceMs: 0, flush, sleep: Bun.sleep }, null);
    expect(report.difference === null ? "" : inWords(report.difference)).toBe("");
    expect(report).toMatchObject({ openHolds: 0 });
    const rows = await database.sql`
      SELECT request::text AS request, -sum(paid_delta + free_delta)::bigint AS cost,
        count(*)::int AS charges
      FROM ledger_entries JOIN accounts a ON a.number = account
      WHERE a.id = ${accountId} AND kind = 'charge' GROUP BY request`;
    const charged = new Map(rows.map(({ request, cost }) => [request, BigInt(cost)]));
    expect(rows.filter(({ charges }) => charges !== 1)).toEqual([]);
    // One more call showed that the earlier release serves.
    expect(charged.size).toBe(calls.length + 1);
    const wrong = calls.filter(({ requestId, cost }) => charged.get(toUuid(requestId)) !== cost);
    expect(wrong).toEqual([]);
  } finally {
    await operator.close();
  }
}

async function isServed({ url }: Balancer, key: string): Promise<boolean> {
  return await askChat(url, key, { model: "ok" }).then(
    ({ status }) => status === 200,
    () => false,
  );
}

/** An account and a key, as the earlier release makes them. */
async function openAccount(
  earlier: Release,
): Promise<{ readonly id: string; readonly key: string }> {
  const { id } = await farebox(earlier, "account", "create");
  await farebox(earlier, "payment", "record", id, "--usd", "500", "--id", "first");
  await farebox(earlier, "account", "contract", id, "enterprise");
  const { key } = await farebox(earlier, "key", "create", id, "--scopes", "models");
  return { id, key };
}

/** Runs a command of this release. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads what it knows to be there
async function farebox({ folder }: Release, ...args: readonly string[]): Promise<any> {
  const command = [process.execPath, join(folder, "src/cli/main.ts"), ...args, "--json"];
  const child = Bun.spawn(command, {
    cwd: folder,
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`farebox ${args.join(" ")}: ${out}${err}`);
  return JSON.parse(out);
}

/**
 * Another release has an index of other documents. In the folder of all tests each release would
 * remove the index of the other.
 */
function ownData(): string {
  const folder = join(logs, "data");
  mkdirSync(folder);
  const places = readdirSync(testDataDirectory()).filter((file) => file.startsWith("places-"));
  for (const file of places) symlinkSync(join(testDataDirectory(), file), join(folder, file));
  return folder;
}

async function startRelease({ name, folder, data }: Release) {
  mkdirSync(join(logs, name));
  const port = await freePort();
  const logFile = (program: string) => join(logs, name, `${program}.log`);
  const api = new Api(
    {
      name: `${name}-api`,
      file: join(folder, "src/main.ts"),
      env: { ...env, FAREBOX_DATA: data, PORT: String(port) },
      logFile: logFile("api"),
    },
    port,
  );
  const worker = new Program({
    name: `${name}-worker`,
    file: join(folder, "workers/main.ts"),
    env: { ...env, FAREBOX_DATA: data },
    logFile: logFile("worker"),
  });
  resources.defer(async () => {
    await Promise.all([api.stop(3_000), worker.stop(3_000)]);
  });
  await Promise.all([api.start(), worker.start()]);
  return { api, worker };
}

function catalogueOf(baseUrl: string) {
  const models = [
    ["ok", "ok"],
    ["stream", STREAM],
  ] as const;
  return {
    providers: { fake: { base_url: baseUrl, concurrency: 1_000 } },
    models: models.map(([id, model]) => ({
      id,
      label: id,
      family: "fake",
      owned_by: "fake",
      context_length: 128_000,
      pricing: [{ input_usd_per_m: "1", output_usd_per_m: "2" }],
      routes: [{ provider: "fake", model }],
    })),
  };
}
