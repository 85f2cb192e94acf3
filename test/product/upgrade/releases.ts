// Runs a release of Farebox, the present one or another, on the stores of a test.

import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "../../../scripts/local/home.mjs";
import { freePort, temporaryFolder } from "../../../scripts/local/processes.mjs";
import { type NanoUsd, nano, usd } from "../../../src/core/money/money.ts";
import { startFakeUpstream } from "../../support/fakes/fake-upstream.ts";
import { Api, SECRETS } from "../../support/product/product.ts";
import { Program } from "../../support/product/program.ts";
import {
  startPrivatePostgres,
  startPrivateRedis,
  testDataDirectory,
} from "../../support/stores/services.ts";
import type { StoreUrls } from "./store-state.ts";

/** Some 4 seconds long, so that streams are open whenever a process is stopped. */
const STREAM = "tokens-40-every-100";

export interface Release {
  readonly name: string;
  /** The folder with its files. */
  readonly folder: string;
  /** The folder with its data. */
  readonly data: string;
}

/** The settings that the releases of a test share. */
export interface Ground {
  /** A folder for logs and data, of the test. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stores: StoreUrls;
  readonly resources: AsyncDisposableStack;
}

export function present(): Release {
  return { name: "present", folder: PROJECT, data: testDataDirectory() };
}

/**
 * A folder for the data of another release, which has an index of other documents: in the folder of
 * all tests each release would remove the index of the other.
 */
export function ownData({ folder }: Ground): string {
  const own = join(folder, "data");
  mkdirSync(own);
  const places = readdirSync(testDataDirectory()).filter((file) => file.startsWith("places-"));
  for (const file of places) symlinkSync(join(testDataDirectory(), file), join(own, file));
  return own;
}

/** Starts private stores and a fake upstream, which stop with `resources`. */
export async function openGround(resources: AsyncDisposableStack): Promise<Ground> {
  const folder = temporaryFolder("farebox-test-releases-");
  resources.defer(() => folder.remove());
  const redis = resources.use(await startPrivateRedis());
  const postgres = resources.use(await startPrivatePostgres());
  const upstream = await startFakeUpstream({ record: false });
  resources.defer(() => upstream.stop());
  const config = join(folder.path, "catalogue.json");
  writeFileSync(config, JSON.stringify(catalogueOf(upstream.baseUrl)));
  const stores = { redisUrl: redis.url, databaseUrl: postgres.url };
  return { folder: folder.path, env: settingsOf(stores, config), stores, resources };
}

/** The settings of every release, with these stores and this configuration file. */
function settingsOf(stores: StoreUrls, config: string): Readonly<Record<string, string>> {
  return {
    ...SECRETS,
    REDIS_URL: stores.redisUrl,
    DATABASE_URL: stores.databaseUrl,
    FAREBOX_CONFIG: config,
    METRICS_PORT: "0",
    // As behind a load balancer, which must see that a process is leaving before it has left.
    DRAIN_NOTICE_SECONDS: "2",
  };
}

/** A configuration with the models `ok` and `stream` of a fake upstream. */
function catalogueOf(baseUrl: string): object {
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

/** Runs a command of a release, and returns its output. */
export async function farebox(
  { folder }: Release,
  { env }: Pick<Ground, "env">,
  args: readonly string[],
  // biome-ignore lint/suspicious/noExplicitAny: a test knows which fields are there
): Promise<any> {
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

/** An account that may spend $500, and a key of it. */
export async function openAccount(
  release: Release,
  ground: Pick<Ground, "env">,
): Promise<{ readonly id: string; readonly key: string }> {
  const run = (...args: readonly string[]) => farebox(release, ground, args);
  const { id } = await run("account", "create");
  await run("payment", "record", id, "--usd", "500", "--id", "first");
  await run("account", "contract", id, "enterprise");
  const { key } = await run("key", "create", id, "--scopes", "models");
  return { id, key };
}

/** The balance of an account, in nano-USD, and the holds of its calls. */
export async function balanceOf(
  release: Release,
  ground: Pick<Ground, "env">,
  id: string,
): Promise<{ readonly left: NanoUsd; readonly held: NanoUsd }> {
  const { balance } = await farebox(release, ground, ["account", "show", id]);
  const amount = (dollars: number) => usd(dollars.toFixed(9));
  const left = nano(amount(balance.paid_usd) + amount(balance.free_usd));
  return { left, held: amount(balance.held_usd) };
}

/** Starts an API process and a worker, which end with the resources of the test at the latest. */
export async function startRelease(
  { name, folder, data }: Release,
  { folder: logs, env, resources }: Ground,
): Promise<{ readonly api: Api; readonly worker: Program }> {
  mkdirSync(join(logs, name));
  const port = await freePort();
  const options = (program: string, file: string) => ({
    name: `${name}-${program}`,
    file: join(folder, file),
    env: { ...env, FAREBOX_DATA: data, PORT: String(port) },
    logFile: join(logs, name, `${program}.log`),
  });
  const api = new Api(options("api", "src/main.ts"), port);
  const worker = new Program(options("worker", "workers/main.ts"));
  resources.defer(async () => {
    await Promise.all([api.stop(3_000), worker.stop(3_000)]);
  });
  await Promise.all([api.start(), worker.start()]);
  return { api, worker };
}
