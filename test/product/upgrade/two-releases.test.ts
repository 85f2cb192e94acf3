// Tests a deploy without a pause: a release serves under load, the stores are migrated, a later
// release starts beside it, and the earlier one is stopped. Every call is answered whole and
// charged once.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { audit } from "../../../src/accounts/audit.ts";
import { toUuid } from "../../../src/core/ids.ts";
import { describe as inWords } from "../../../src/core/journal/audit-finding.ts";
import { AuditRepository } from "../../../src/store/audit/audit.ts";
import { askChat, postChat, readStream } from "../../support/api/chat-client.ts";
import { eventually } from "../../support/eventually.ts";
import { openOperator } from "../../support/product/product.ts";
import { isCi } from "../../support/product/toolchains.ts";
import { type Balancer, startBalancer } from "./balancer.ts";
import { earlierReleases, openEarlierRelease } from "./earlier-release.ts";
import { openNextBuild } from "./next-build.ts";
import {
  farebox,
  type Ground,
  openAccount,
  openGround,
  ownData,
  present,
  type Release,
  startRelease,
} from "./releases.ts";

const CALLERS = 6;
const STREAMERS = 4;
/** Calls that are answered before the next step of the deploy. */
const STEP = 40;

let resources: AsyncDisposableStack;
let ground: Ground;
beforeEach(async () => {
  resources = new AsyncDisposableStack();
  ground = await openGround(resources);
});
afterEach(() => resources.disposeAsync());

const GUARANTEE = "loses no call and charges none twice";

test(`a deploy to a release with a newer layout ${GUARANTEE}`, async () => {
  const next = resources.use(await openNextBuild());
  await deploy(present(), { name: "next", folder: next.folder, data: ownData(ground) });
});

const earlier = earlierReleases();
for (const { name, ref } of earlier) {
  test(`a deploy from ${name} ${GUARANTEE}`, async () => {
    const { folder } = resources.use(openEarlierRelease(ref));
    await deploy({ name: "earlier", folder, data: ownData(ground) }, present());
  });
}
// In CI a copy without the history is a fault of its checkout.
test.skipIf(earlier.length === 0 && !isCi())(
  "the code of the first release is in the history of git",
  () => expect(earlier.length).toBeGreaterThan(0),
);

async function deploy(earlier: Release, later: Release): Promise<void> {
  await farebox(earlier, ground, ["migrate"]);
  const { id, key } = await openAccount(earlier, ground);
  const before = await startRelease(earlier, ground);
  await using balancer = await startBalancer();
  balancer.add(before.api.port);
  await eventually("the earlier release serves", () => isServed(balancer, key));
  const load = startLoad(balancer, key);
  await load.more(STEP);

  await farebox(later, ground, ["migrate"]);
  const after = await startRelease(later, ground);
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
  await farebox(later, ground, ["migrate", "--finish"]);
  expect(await isServed(balancer, key)).toBe(true);
  expect(await farebox(later, ground, ["audit"])).toMatchObject({ difference: null });
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
  const operator = openOperator(ground.env.REDIS_URL ?? "", ground.env.DATABASE_URL ?? "");
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
