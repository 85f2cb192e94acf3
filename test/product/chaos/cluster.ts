// Runs a Redis Cluster of three masters under load: a master is killed and comes back, and slots
// move from one master to another while their accounts make calls.

import { Redis } from "ioredis";
import { bucketKeys } from "../../../actors/records/keys.ts";
import { eventually } from "../../support/eventually.ts";
import { type Product, startProduct } from "../../support/product/product.ts";
import { epochsOf, must, proveBooks, sweepDead } from "../../support/product/product-checks.ts";
import { callOnce, Load, MODELS, type Told } from "../../support/product/product-load.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { startCluster } from "../../support/stores/services.ts";
import { openAccounts } from "./accounts.ts";
import type { ChaosOptions } from "./gateway-kills.ts";

const CALLERS = 8;
const MOVE_MS = 5_000;
const WITHIN_MS = 60_000;

type Cluster = Awaited<ReturnType<typeof startCluster>>;

/** Kills a master and moves a slot this many times; then proves the books. */
export async function troubleCluster({ times, random, say }: ChaosOptions): Promise<void> {
  await using cluster = await startCluster();
  // The buckets of the remaining masters go on.
  await onEachNode(cluster, (node) => node.config("SET", "cluster-require-full-coverage", "no"));
  await using product = await startProduct({
    apis: 2,
    models: MODELS,
    record: false,
    redisUrl: cluster.urls.join(","),
  });
  const accounts = await openAccounts(product);
  const load = new Load(product, { accounts, callers: CALLERS, random });
  await load.servedMore(20, WITHIN_MS);
  const epochs = await epochsOf(product);
  const probes: Told[] = [];
  const [backMs, moveMs]: [number[], number[]] = [[], []];
  let meanwhile = 0;
  for (let round = 0; round < times; round += 1) {
    const index = random.between(0, cluster.nodes.length - 1);
    await cluster.nodes[index]?.child.kill9();
    const before = load.count(200);
    await Bun.sleep(random.between(0, 500));
    meanwhile += load.count(200) - before;
    await cluster.restart(index);
    const startMs = performance.now();
    for (const account of accounts) probes.push(...(await untilServed(product.api(0), account)));
    backMs.push(performance.now() - startMs);

    const account = random.pick(accounts);
    moveMs.push(await moveSlot(cluster, account));
    probes.push(...(await untilServed(product.api(1), account)));
    await load.servedMore(5, WITHIN_MS);
  }
  await load.stop();
  // The tool made no call meanwhile: its first calls show it where the slots are now.
  await eventually("the tool knows the slots", () => knowsSlots(product));
  const proof = await proveBooks(product, [...load.told, ...probes]);
  const after = await epochsOf(product);
  must(
    after === epochs,
    () => "A bucket was built anew: the Cluster had lost what it acknowledged",
  );
  const most = (values: readonly number[]) => Math.max(...values).toFixed(0);
  say(`${times} kills of a master and ${times} slots moved, on a Redis Cluster of 3 masters`);
  say(
    `  ${proof.served} calls served, ${meanwhile} of them while a master was away, ` +
      `${load.count(503)} refused (503); all accounts served at most ${most(backMs)} ms after ` +
      `the master was back, a slot moved in at most ${most(moveMs)} ms; nothing lost or charged ` +
      "twice, audit clean",
  );
}

async function knowsSlots(product: Product): Promise<boolean> {
  return await sweepDead(product).then(
    () => true,
    () => false,
  );
}

/**
 * Makes calls until one is served or refused for money; returns all of them, with their answers.
 */
async function untilServed(
  api: Parameters<typeof callOnce>[0],
  account: TestAccount,
): Promise<Told[]> {
  const told: Told[] = [];
  await eventually(
    `a call of ${account.id} is served`,
    async () => {
      const one = await callOnce(api, account, { kind: "ok" });
      if (one === null) return false;
      told.push(one);
      return one.status === 200 || one.status === 402;
    },
    WITHIN_MS,
  );
  return told;
}

/** Moves the slot of an account's bucket to the next master, as redis-cli does. */
async function moveSlot(cluster: Cluster, { bucket }: TestAccount): Promise<number> {
  const nodes = cluster.urls.map((url) => new Redis(url));
  try {
    await eventually("the Cluster is whole", () => isWhole(nodes), WITHIN_MS);
    const slot = Number(await nodes[0]?.cluster("KEYSLOT", bucketKeys(bucket).bucket));
    const ids = await Promise.all(nodes.map(async (node) => String(await node.cluster("MYID"))));
    const owner = await ownerOf(nodes, slot, ids);
    const [from, to] = [nodes[owner], nodes[(owner + 1) % nodes.length]];
    const toId = ids[(owner + 1) % nodes.length] ?? "";
    if (from === undefined || to === undefined) throw new Error("The Cluster has one master");
    const startMs = performance.now();
    await to.cluster("SETSLOT", slot, "IMPORTING", ids[owner] ?? "");
    await from.cluster("SETSLOT", slot, "MIGRATING", toId);
    const { host = "", port = 0 } = to.options;
    for (;;) {
      const keys = (await from.cluster("GETKEYSINSLOT", slot, 100)) as string[];
      if (keys.length === 0) break;
      await from.call("MIGRATE", host, port, "", 0, MOVE_MS, "KEYS", ...keys);
    }
    for (const node of [to, from, ...nodes]) await node.cluster("SETSLOT", slot, "NODE", toId);
    return performance.now() - startMs;
  } finally {
    for (const node of nodes) node.disconnect();
  }
}

/** A master that was away takes a while to be trusted again. */
async function isWhole(nodes: readonly Redis[]): Promise<boolean> {
  const infos = await Promise.all(nodes.map(async (node) => String(await node.cluster("INFO"))));
  const views = await Promise.all(nodes.map(async (node) => String(await node.cluster("NODES"))));
  return (
    infos.every((info) => info.includes("cluster_state:ok")) &&
    views.every((view) => !/\bfail\??/.test(view))
  );
}

async function ownerOf(
  nodes: readonly Redis[],
  slot: number,
  ids: readonly string[],
): Promise<number> {
  const ranges = (await nodes[0]?.cluster("SLOTS")) ?? [];
  const range = ranges.find(([first, last]) => first <= slot && slot <= last);
  return ids.indexOf(range?.[2]?.[2] ?? "");
}

async function onEachNode(cluster: Cluster, run: (node: Redis) => Promise<unknown>): Promise<void> {
  for (const url of cluster.urls) {
    const node = new Redis(url);
    await run(node).finally(() => node.disconnect());
  }
}
