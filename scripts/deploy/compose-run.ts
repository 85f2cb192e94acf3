// Runs deploy/compose.yaml with podman-compose, as docs/production.md says, and checks the promises
// of that page: who reaches whom, paid calls, a killed process, an update under load.

import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type NanoUsd, nano, usd } from "../../src/core/money/money.ts";
import { PROJECT } from "../local/home.mjs";
import { freePort } from "../local/processes.mjs";
import { reportRefusals } from "./compose-refusals.ts";
import { checkSeparation } from "./compose-separation.ts";
import { type Engine, LIMITS } from "./engine.ts";
import { BUN_IMAGE } from "./images.ts";
import {
  type Call,
  call,
  catalogueOf,
  costOfAll,
  failIfAny,
  MODEL,
  startLoad,
  type Target,
} from "./load.ts";
import type { Report } from "./report.ts";
import { must, type ProgramResult, run } from "./tools.ts";
import { until } from "./until.ts";

/** The compose file, and what the check adds to it. */
const FILE = "compose.yaml";
const CHECK_FILES = [FILE, "check.yaml"] as const;
/** The project that compose.yaml names. */
const NAME = "farebox";
const APIS = ["api-1", "api-2"] as const;
const CREDIT_USD = "500";
/** Calls that are answered before the next thing is done. */
const STEP = 30;
/** The lease of a hold whose process was killed, and the sweep after it. */
const HOLD_MS_MAX = 240_000;
/** A running installation. */
export interface Installation {
  readonly engine: Engine;
  /** Runs podman-compose, and returns its output. */
  compose(...args: readonly string[]): Promise<string>;
  /**
   * Runs podman-compose, and returns its refusal too.
   * @param options with `asItStands` without what the check adds to the file
   */
  tryCompose(
    args: readonly string[],
    options?: { readonly asItStands: boolean },
  ): Promise<ProgramResult>;
  /** Runs a command of the tool in a container of its own. */
  farebox(...args: readonly string[]): Promise<Record<string, unknown>>;
  /** The name of a service's container. */
  container(service: string): string;
  /** Runs a shell in a service's container. */
  shell(
    service: string,
    script: string,
  ): Promise<{ readonly isOk: boolean; readonly text: string }>;
}

/** Checks the compose file with images that exist; reports its findings. */
export async function checkCompose(engine: Engine, report: Report): Promise<void> {
  const folder = join(engine.folder, "compose");
  const ports = { HTTP_PORT: await freePort(), HTTPS_PORT: await freePort() };
  await layOut(folder, ports);
  const optionsOf = (files: readonly string[]) => ({
    cwd: join(folder, "deploy"),
    env: { ...engine.env, COMPOSE_FILE: files.join(":") },
  });
  const compose = (...args: readonly string[]) =>
    must(["podman-compose", ...args], optionsOf(CHECK_FILES));
  const container = (service: string) => `${NAME}_${service}_1`;
  const installation: Installation = {
    engine,
    compose,
    tryCompose: (args, options) =>
      run(["podman-compose", ...args], optionsOf(options?.asItStands ? [FILE] : CHECK_FILES)),
    container,
    farebox: async (...args) => {
      const files = ["--volume", `${folder}/files:/files:ro`];
      const said = await compose(
        "run",
        "--rm",
        "-T",
        "--no-deps",
        ...files,
        "migrate",
        ...args,
        "--json",
      );
      const line = said.split("\n").findLast((text) => text.startsWith("{"));
      return JSON.parse(line ?? said);
    },
    shell: async (service, script) => {
      const { exitCode, stdout, stderr } = await engine.podman(
        "exec",
        container(service),
        "sh",
        "-c",
        script,
      );
      return { isOk: exitCode === 0, text: stdout + stderr };
    },
  };
  try {
    await checkInstallation(installation, report, `https://localhost:${ports.HTTPS_PORT}`);
  } catch (error) {
    const logs = await engine.podman("logs", "--tail", "20", container("api-1"));
    report.fail("the compose file", `${error}\nThe log of api-1:\n${logs.stdout}${logs.stderr}`);
  } finally {
    await compose("down", "--volumes").catch((error) => report.fail("compose down", String(error)));
  }
}

/** Copies deploy/, makes its secrets, and adds settings for this machine and the check. */
async function layOut(folder: string, ports: Readonly<Record<string, number>>): Promise<void> {
  mkdirSync(join(folder, "files"), { recursive: true });
  const isSecret = (path: string) => /\/(\.env|farebox\.env)$/.test(path);
  cpSync(join(PROJECT, "deploy"), join(folder, "deploy"), {
    recursive: true,
    filter: (path) => !isSecret(path),
  });
  await must(["sh", join(folder, "deploy/make-secrets")]);
  const env = join(folder, "deploy/.env");
  const set = { SITE: "localhost", ...ports };
  const lines = Object.entries(set).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(env, readFileSync(env, "utf8") + lines.join(""));
  const limits = Object.entries(LIMITS).map(([name, of]) => [name, { soft: of, hard: of }]);
  const ulimits = Object.fromEntries(limits);
  const own = Object.fromEntries(["migrate", ...APIS, "worker"].map((name) => [name, { ulimits }]));
  const slow = {
    image: BUN_IMAGE,
    command: ["bun", "/slow-model.ts"],
    networks: ["upstreams"],
    volumes: [`${join(PROJECT, "scripts/deploy/slow-model.ts")}:/slow-model.ts:ro`],
  };
  // JSON is YAML too.
  const check = { services: { ...own, "slow-model": slow } };
  writeFileSync(join(folder, "deploy/check.yaml"), JSON.stringify(check));
  writeFileSync(join(folder, "files/config.json"), JSON.stringify(catalogueOf("slow-model")));
}

async function checkInstallation(at: Installation, report: Report, url: string): Promise<void> {
  await report.step(
    "compose: the stores start, the stores are migrated, all processes start",
    async () => {
      // This Podman has no systemd to run the checks of health, so they are run here.
      await at.compose("up", "--detach", "--no-build", "redis", "postgres");
      for (const store of ["redis", "postgres"]) {
        await until(`${store} is healthy`, async () => {
          const checked = await at.engine.podman("healthcheck", "run", at.container(store));
          return checked.exitCode === 0;
        });
      }
      await at.farebox("migrate");
      await at.farebox("config", "apply", "/files/config.json");
      // With dependencies Podman 4.3 starts none, as the end of the check shows.
      const rest = ["proxy", "slow-model", ...APIS, "worker"];
      await at.compose("up", "--detach", "--no-build", "--no-deps", ...rest);
      await untilReady(at);
    },
  );
  const { id, key } = await openAccount(at);
  const target = { url, key, model: MODEL };
  await report.step("compose: a call and a stream through the proxy are paid", async () => {
    await until("the proxy serves", async () => (await call(target, false)).failure === null);
    const [before, calls] = [await balanceOf(at, id), [] as Call[]];
    for (const stream of [false, true]) calls.push(await call(target, stream));
    failIfAny(calls);
    const spent = nano(before - (await balanceOf(at, id)));
    if (spent !== costOfAll(calls) || spent === 0n) throw new Error(`${spent} nano-USD were taken`);
    return `${spent} nano-USD, as the answers say`;
  });
  await checkSeparation(at, report, { url, accountId: id, model: MODEL });
  await report.step("compose: no call fails in an update under load, each is charged once", () =>
    updateUnderLoad(at, target, id),
  );
  await report.step("compose: a killed process comes back, and nothing is lost", () =>
    killUnderLoad(at, target, id),
  );
  await report.step("compose: ledger, journal and wallets agree", async () => {
    const audit = await at.farebox("audit");
    if (audit.difference !== null) throw new Error(JSON.stringify(audit));
    return `${audit.entries ?? ""} entries`.trim();
  });
  await reportRefusals(at, report);
}

async function openAccount(at: Installation) {
  const id = String((await at.farebox("account", "create")).id);
  await at.farebox("payment", "record", id, "--usd", CREDIT_USD, "--id", "first");
  await at.farebox("account", "contract", id, "enterprise");
  const { key } = await at.farebox("key", "create", id, "--scopes", "models");
  return { id, key: String(key) };
}

async function updateUnderLoad(at: Installation, target: Target, id: string): Promise<string> {
  const idOf = (service: string) =>
    at.engine.must("inspect", "--format", "{{.Id}}", at.container(service));
  const old = await Promise.all(APIS.map(idOf));
  const before = await balanceOf(at, id);
  const load = startLoad(target);
  try {
    await load.more(STEP);
    await update(at);
    await load.more(STEP);
  } finally {
    await load.end();
  }
  failIfAny(load.calls);
  const now = await Promise.all(APIS.map(idOf));
  if (now.some((name, at) => name === old[at])) throw new Error("a container was not replaced");
  const spent = nano(before - (await balanceOf(at, id)));
  if (spent !== costOfAll(load.calls)) {
    throw new Error(`${spent} nano-USD were taken for calls of ${costOfAll(load.calls)}`);
  }
  return `${load.calls.length} calls, ${spent} nano-USD`;
}

async function update(at: Installation): Promise<void> {
  const deploy = join(at.engine.folder, "compose/deploy");
  const env = {
    ...at.engine.env,
    COMPOSE: "podman-compose",
    COMPOSE_FILE: CHECK_FILES.join(":"),
  };
  await must(["sh", join(deploy, "update"), "--no-build"], { env });
}

/** Kills an API process as a lack of memory does; it must come back by itself. */
async function killUnderLoad(at: Installation, target: Target, id: string): Promise<string> {
  const before = await balanceOf(at, id);
  const load = startLoad(target);
  try {
    await load.more(STEP);
    const pid = await at.engine.must(
      "inspect",
      "--format",
      "{{.State.Pid}}",
      at.container("api-1"),
    );
    await must(["kill", "-9", pid.trim()]);
    await load.more(STEP);
  } finally {
    await load.end();
  }
  const failed = load.calls.filter(({ failure }) => failure !== null);
  await untilReady(at);
  const spent = nano(before - (await balanceOf(at, id)));
  // A stream that is cut off costs the text that it had sent when it was last counted (D-594).
  const forCut = spent - costOfAll(load.calls);
  const highest = load.calls.reduce((most, { cost }) => (cost > most ? cost : most), nano(0n));
  if (forCut < 0n || forCut > BigInt(failed.length) * highest) {
    throw new Error(`${spent} nano-USD were taken for answers of ${costOfAll(load.calls)}`);
  }
  return `${load.calls.length} calls; ${failed.length} were cut off and cost ${forCut} nano-USD`;
}

async function untilReady(at: Installation): Promise<void> {
  const probe = "(await fetch('http://127.0.0.1:8080/readyz')).ok || process.exit(1)";
  for (const api of APIS) {
    await until(`${api} is ready`, async () => (await at.shell(api, `bun -e "${probe}"`)).isOk);
  }
}

/** The balance of an account, once no call of the account holds any of it. */
async function balanceOf(at: Installation, id: string): Promise<NanoUsd> {
  let left = nano(0n);
  await until(
    "no call holds credit",
    async () => {
      const { balance } = await at.farebox("account", "show", id);
      const { paid_usd, free_usd, held_usd } = balance as Readonly<Record<string, number>>;
      left = nano(usdOf(paid_usd) + usdOf(free_usd));
      return held_usd === 0;
    },
    HOLD_MS_MAX,
  );
  return left;
}

function usdOf(amount = 0): NanoUsd {
  return usd(amount.toFixed(9));
}
