// Starts the targets of the benchmark, and the two programs that Farebox is compared with.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { BUN_SETTINGS } from "../scripts/bun-settings.mjs";
import { BUN, freePort, type Program, startServer } from "./launch.ts";

export interface Target {
  /** The name of its column in the report. */
  readonly name: string;
  readonly url: string;
  readonly callers: readonly Readonly<Record<string, string>>[];
  readonly pid: number;
}

export interface TargetSetting {
  readonly logFolder: string;
  /** Base URL of the stub upstream, with /v1. */
  readonly upstreamUrl: string;
  /** Settings of the API process beyond the usual ones. */
  readonly env?: Readonly<Record<string, string>>;
}

export type Started = Program & { readonly target: Target };

/** A separate folder, so that the benchmark's imports do not find another program's packages. */
const PORTKEY_PROJECT = join(import.meta.dir, "portkey");
const PORTKEY = join(PORTKEY_PROJECT, "node_modules/@portkey-ai/gateway");

/** Starts the upstream of all targets. */
export async function startUpstream(logFolder: string): Promise<Program & { url: string }> {
  const port = await freePort();
  const program = await startServer({
    name: "upstream",
    command: [BUN, join(import.meta.dir, "load", "stub-upstream.ts")],
    env: { PORT: String(port) },
    logFolder,
    readyUrl: `http://127.0.0.1:${port}/`,
  });
  return { ...program, url: `http://127.0.0.1:${port}/v1` };
}

/** Starts the proxy that only forwards calls. */
export async function startBare({ logFolder, upstreamUrl }: TargetSetting): Promise<Started> {
  const port = await freePort();
  const program = await startServer({
    name: "bare",
    command: [BUN, join(import.meta.dir, "load", "bare-proxy.ts")],
    env: { ...BUN_SETTINGS, PORT: String(port), UPSTREAM_URL: upstreamUrl },
    logFolder,
    readyUrl: `http://127.0.0.1:${port}/`,
  });
  const url = `http://127.0.0.1:${port}/v1/chat/completions`;
  return { ...program, target: { name: "bare", url, callers: [{}], pid: program.pid } };
}

/** The same process as a target for searches. */
export function searchOf(target: Target, name = "search"): Target {
  return { ...target, name, url: new URL("/v1/search", target.url).href };
}

/** Starts Portkey's gateway on Node, which it is written for. */
export async function startPortkey({ logFolder, upstreamUrl }: TargetSetting): Promise<Started> {
  installPortkey();
  const port = await freePort();
  const server = join(PORTKEY, "build/start-server.js");
  const program = await startServer({
    name: "portkey",
    command: [Bun.which("node") ?? BUN, server, `--port=${port}`, "--headless"],
    logFolder,
    readyUrl: `http://127.0.0.1:${port}/`,
  });
  const caller = {
    authorization: "Bearer stub",
    "x-portkey-provider": "openai",
    "x-portkey-custom-host": upstreamUrl,
  };
  const url = `http://127.0.0.1:${port}/v1/chat/completions`;
  return { ...program, target: { name: "portkey", url, callers: [caller], pid: program.pid } };
}

/** Installs the packages of bench/portkey, unless they are installed. */
function installPortkey(): void {
  const wanted = readVersion(join(PORTKEY_PROJECT, "package.json"));
  if (existsSync(PORTKEY) && readVersion(join(PORTKEY, "package.json")) === wanted) return;
  console.error("Installing Portkey's gateway for the comparison; this takes a moment.");
  const npm = Bun.spawnSync(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: PORTKEY_PROJECT,
    stdout: "ignore",
    stderr: "inherit",
  });
  if (npm.exitCode !== 0) throw new Error(`'npm ci' in bench/portkey failed: exit ${npm.exitCode}`);
}

function readVersion(file: string): string | undefined {
  const { version, dependencies } = JSON.parse(readFileSync(file, "utf8"));
  return dependencies?.["@portkey-ai/gateway"] ?? version;
}
