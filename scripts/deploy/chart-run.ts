// Runs the manifests of the chart with `podman kube play`: the job that migrates, a worker, two API
// pods behind a proxy, and one of these replaced under load, as a cluster does it. Features of
// Kubernetes that this Podman lacks are reported.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT, secret } from "../local/home.mjs";
import type { Engine } from "./engine.ts";
import { renderChart } from "./files.ts";
import { BUN_IMAGE, composeImages } from "./images.ts";
import { call, catalogueOf, costOfAll, failIfAny, MODEL, startLoad, type Target } from "./load.ts";
import { forPodman, type Manifest, readManifests } from "./manifests.ts";
import type { Report } from "./report.ts";
import { until } from "./until.ts";

const NETWORK = "farebox-chart";
const SECRET = "farebox-secrets";
const HOSTS = { redis: "chart-redis", postgres: "chart-postgres", model: "chart-model" } as const;
const PROXY = "chart-proxy";
const CREDIT_USD = "500";
/** Calls that are answered before the next thing is done. */
const STEP = 30;
/** The pods, by the names of their deployments; the last one takes the place of the first. */
const PODS = ["farebox-a", "farebox-b", "farebox-c"] as const;

interface Chart {
  readonly engine: Engine;
  readonly folder: string;
  readonly manifests: readonly Manifest[];
}

/** Checks the chart with images that exist; reports its findings. */
export async function checkChart(engine: Engine, report: Report): Promise<void> {
  const folder = join(engine.folder, "chart");
  mkdirSync(folder);
  const values = join(folder, "values.json");
  const image = { repository: "localhost/farebox", tag: "latest", pullPolicy: "Never" };
  const config = catalogueOf(HOSTS.model);
  writeFileSync(values, JSON.stringify({ image, secret: { name: SECRET }, config }));
  const rendered = await renderChart("farebox", ["--values", values]);
  if (rendered.exitCode !== 0) return report.fail("chart: helm template", rendered.stderr);
  const chart = { engine, folder, manifests: readManifests(rendered.stdout) };
  let target: Target | null = null;
  const started = await report.step(
    "chart: the job migrates, two API pods and a worker start",
    async () => {
      await startStores(chart);
      await makeSecret(chart);
      await play(chart, "migrate", jobsAsPods(chart));
      const ended = await engine.must("wait", "farebox-migrate-migrate");
      const logs = await engine.podman("logs", "farebox-migrate-migrate");
      if (ended.trim() !== "0") throw new Error(`migrate: ${logs.stdout}${logs.stderr}`);
      await play(chart, "worker", [
        ...of(chart, "ConfigMap"),
        deploymentOf(chart, "worker", "farebox-worker"),
      ]);
      for (const name of PODS.slice(0, 2)) await startPod(chart, name);
      target = { url: await startProxy(chart), key: await makeKey(chart), model: MODEL };
    },
  );
  if (!started || target === null) return;
  await report.step("chart: a pod replaced under load loses no call", () =>
    replaceUnderLoad(chart, target as Target),
  );
  await report.step("chart: ledger, journal and wallets agree", async () => {
    const { difference } = await farebox(chart, "audit");
    if (difference !== null) throw new Error(JSON.stringify(difference));
  });
  for (const line of forPodman(chart.manifests).leftOut) report.refused("chart, by podman", line);
}

async function startStores({ engine }: Chart): Promise<void> {
  const images = composeImages();
  const start = (name: string, args: readonly string[]) =>
    engine.must("run", "--detach", "--name", name, "--network", NETWORK, ...args);
  const redis = ["--requirepass", "check", "--appendonly", "yes", "--appendfsync", "always"];
  const limits = ["--maxmemory-policy", "noeviction", "--maxmemory", "256mb"];
  await engine.must("network", "create", NETWORK);
  await start(HOSTS.redis, [
    `localhost/${images.redis}`,
    "docker-entrypoint.sh",
    "redis-server",
    ...redis,
    ...limits,
  ]);
  const env = { POSTGRES_USER: "farebox", POSTGRES_DB: "farebox", POSTGRES_PASSWORD: "check" };
  const set = Object.entries(env).flatMap(([name, value]) => ["--env", `${name}=${value}`]);
  await start(HOSTS.postgres, [...set, `localhost/${images.postgres}`]);
  const model = join(PROJECT, "scripts/deploy/slow-model.ts");
  await start(HOSTS.model, [
    "--volume",
    `${model}:/slow-model.ts:ro`,
    BUN_IMAGE,
    "bun",
    "/slow-model.ts",
  ]);
  await until("Postgres is ready", async () => {
    const isReady = ["pg_isready", "-h", "127.0.0.1", "-U", "farebox", "-d", "farebox"];
    return (await engine.podman("exec", HOSTS.postgres, ...isReady)).exitCode === 0;
  });
}

const SECRETS = {
  KEY_PEPPER: secret(),
  IP_HASH_SECRET: secret(),
  REDIS_URL: `redis://:check@${HOSTS.redis}:6379`,
  DATABASE_URL: `postgres://farebox:check@${HOSTS.postgres}:5432/farebox`,
};

/** Makes the Secret. Podman 4.3 decodes no data of one that it plays, but reads a plain one. */
async function makeSecret({ engine, folder }: Chart): Promise<void> {
  const file = join(folder, "secret.yaml");
  const manifest = { apiVersion: "v1", kind: "Secret", metadata: { name: SECRET }, data: SECRETS };
  writeFileSync(file, JSON.stringify(manifest));
  await engine.must("secret", "create", SECRET, file);
}

function of({ manifests }: Chart, kind: string): readonly Manifest[] {
  return forPodman(manifests).played.filter((manifest) => manifest.kind === kind);
}

/** The chart's jobs, which this Podman does not know, as the pods that they make. */
function jobsAsPods(chart: Chart): readonly Manifest[] {
  return of(chart, "Job").map(({ metadata, spec }) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: metadata.name },
    spec: { ...spec?.template?.spec },
  }));
}

/** A deployment of the chart under another name, with one pod, `NAME-pod-0`. */
function deploymentOf(chart: Chart, component: string, name: string): Manifest {
  const found = of(chart, "Deployment").find(({ metadata }) =>
    metadata.name.endsWith(`-${component}`),
  );
  if (found === undefined) throw new Error(`The chart has no deployment of ${component}`);
  return { ...found, metadata: { ...found.metadata, name }, spec: { ...found.spec, replicas: 1 } };
}

async function play(chart: Chart, name: string, manifests: readonly Manifest[]): Promise<void> {
  const file = join(chart.folder, `${name}.yaml`);
  // JSON is YAML too.
  writeFileSync(file, manifests.map((manifest) => JSON.stringify(manifest)).join("\n---\n"));
  await chart.engine.must("kube", "play", "--network", NETWORK, file);
}

async function startPod(chart: Chart, name: string): Promise<void> {
  await play(chart, name, [...of(chart, "ConfigMap"), deploymentOf(chart, "api", name)]);
  const probe = "(await fetch('http://127.0.0.1:8080/readyz')).ok || process.exit(1)";
  await until(`${name} is ready`, async () => {
    const asked = await chart.engine.podman("exec", `${name}-pod-0-api`, "bun", "-e", probe);
    return asked.exitCode === 0;
  });
}

/** Starts the proxy, configured with the present and the later pods, and returns its address. */
async function startProxy({ engine, folder }: Chart): Promise<string> {
  const pods = PODS.map((name) => `${name}-pod-0:8080`).join(" ");
  const own = await Bun.file(join(PROJECT, "deploy/Caddyfile")).text();
  const file = join(folder, "Caddyfile");
  writeFileSync(file, own.replace("api-1:8080 api-2:8080", pods));
  await engine.must(
    "run",
    "--detach",
    "--name",
    PROXY,
    "--network",
    NETWORK,
    "--env",
    "SITE=http://",
    "--volume",
    `${file}:/etc/caddy/Caddyfile:ro`,
    `localhost/${composeImages().proxy}`,
  );
  const format = `{{(index .NetworkSettings.Networks "${NETWORK}").IPAddress}}`;
  return `http://${(await engine.must("inspect", "--format", format, PROXY)).trim()}`;
}

/** Runs a command of the tool, once more if this busy machine was too slow to connect it. */
async function farebox(chart: Chart, ...args: readonly string[]): Promise<Record<string, unknown>> {
  const command = ["bun", "--no-env-file", "scripts/container.ts", ...args, "--json"];
  const inPod = ["exec", `${PODS[1]}-pod-0-api`, ...command];
  let said = await chart.engine.podman(...inPod);
  await until(`farebox ${args[0]} reaches the stores`, async () => {
    if (!/"code":"(?:postgres|redis)_away"/.test(said.stdout)) return true;
    said = await chart.engine.podman(...inPod);
    return false;
  });
  if (said.exitCode !== 0)
    throw new Error(`farebox ${args.join(" ")}: ${said.stdout}${said.stderr}`);
  return JSON.parse(said.stdout);
}

async function makeKey(chart: Chart): Promise<string> {
  const id = String((await farebox(chart, "account", "create")).id);
  await farebox(chart, "payment", "record", id, "--usd", CREDIT_USD, "--id", "first");
  await farebox(chart, "account", "contract", id, "enterprise");
  return String((await farebox(chart, "key", "create", id, "--scopes", "models")).key);
}

async function replaceUnderLoad(chart: Chart, target: Target): Promise<string> {
  await until("the proxy serves", async () => (await call(target, false)).failure === null);
  const load = startLoad(target);
  try {
    await load.more(STEP);
    await startPod(chart, PODS[2]);
    // `podman pod stop` would take the network away first, which a cluster does last.
    await chart.engine.must("stop", "--time", "975", `${PODS[0]}-pod-0-api`);
    await load.more(STEP);
  } finally {
    await load.end();
  }
  failIfAny(load.calls);
  return `${load.calls.length} calls, ${costOfAll(load.calls)} nano-USD`;
}
