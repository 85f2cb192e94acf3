// All scripts as one library of Redis functions. Redis runs the library once, when it is loaded,
// and keeps its functions. A script that is sent by its digest creates every shared function in
// each run instead, which took a third of its time.
//
// The library survives a restart of Redis, in the append-only file and on replicas, but its
// variables do not. One variable says whether this server was compared with Postgres; until it was,
// every script replies `recover`.

import { count } from "../records/window.ts";
import { admit } from "./admit-script.ts";
import {
  endResponse,
  extend,
  forgetEnded,
  SETTLE_SCRIPTS,
  settleLate,
  sweep,
  view,
} from "./call-scripts.ts";
import { forgetOwner, lease, renew } from "./lease-scripts.ts";
import type { RedisServer, ScriptDefinition } from "./script.ts";
import { SHARED_LUA } from "./shared-lua.ts";
import {
  applyOperation,
  configure,
  countRefused,
  evict,
  expireFree,
  forgetBudgets,
  hydrate,
  loadBudgets,
  loadMarkers,
  summarise,
} from "./wallet-scripts.ts";

const SCRIPTS: readonly ScriptDefinition[] = [
  admit,
  ...SETTLE_SCRIPTS,
  settleLate,
  endResponse,
  sweep,
  extend,
  lease,
  renew,
  forgetEnded,
  forgetOwner,
  view,
  applyOperation,
  configure,
  hydrate,
  loadBudgets,
  loadMarkers,
  forgetBudgets,
  evict,
  expireFree,
  summarise,
  countRefused,
  count,
];

const NAME_PREFIX = "farebox_";
const VERIFIED_SCRIPT = "verified";
const VERIFICATION = "local is_verified = false";
const VERIFIED = `
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
is_verified = is_verified or run == ARGV[1]
return is_verified and 1 or 0`;

export class ScriptLibrary {
  readonly name: string;
  readonly code: string;
  readonly #shared: string;
  readonly #scripts: readonly ScriptDefinition[];
  /** The names of functions, by script. */
  readonly #functions: Readonly<Record<string, string>>;

  constructor(shared: string, scripts: readonly ScriptDefinition[]) {
    this.#shared = shared;
    this.#scripts = scripts;
    // Function names are unique on a server, so two releases must use different ones.
    const all = JSON.stringify([VERIFICATION, shared, scripts]);
    const version = new Bun.CryptoHasher("sha256").update(all).digest("hex").slice(0, 12);
    this.name = `${NAME_PREFIX}${version}`;
    const names = [...scripts.map(({ name }) => name), VERIFIED_SCRIPT];
    this.#functions = Object.fromEntries(names.map((name) => [name, `${name}_${version}`]));
    this.code = [
      `#!lua name=${this.name}`,
      shared,
      VERIFICATION,
      ...scripts.map(({ name, lua, flags }) =>
        this.#register(
          name,
          `if not is_verified then return { 'recover' } end\nbegin()\n${lua}`,
          flags,
        ),
      ),
      this.#register(VERIFIED_SCRIPT, VERIFIED, ["no-writes"]),
    ].join("\n");
  }

  /** The same library with changed shared code and scripts, for tests. */
  changed(change: (lua: string) => string): ScriptLibrary {
    const scripts = this.#scripts.map((script) => ({ ...script, lua: change(script.lua) }));
    return new ScriptLibrary(change(this.#shared), scripts);
  }

  /** The name of a script's function on a server that has this library. */
  functionOf(script: string): string {
    const name = this.#functions[script];
    if (name === undefined) throw new Error(`There is no script '${script}'`);
    return name;
  }

  /** Gives a server the library, if it does not have it. */
  async load(server: RedisServer): Promise<void> {
    try {
      await server.function("LOAD", this.code);
    } catch (error) {
      if (!isAlreadyThere(error)) throw error;
    }
  }

  /**
   * Lets the scripts run if the server still has the run id with which it was verified. False if
   * the server was restarted since.
   */
  async verified(server: RedisServer, runId: string): Promise<boolean> {
    return (await server.fcall(this.functionOf(VERIFIED_SCRIPT), 0, runId)) === 1;
  }

  #register(name: string, lua: string, flags: readonly string[]): string {
    return [
      "redis.register_function{",
      `  function_name = '${this.functionOf(name)}',`,
      `  flags = { ${flags.map((flag) => `'${flag}'`).join(", ")} },`,
      "  callback = function(KEYS, ARGV)",
      lua,
      "  end,",
      "}",
    ].join("\n");
  }
}

/** The library that processes of this release run. */
export const SCRIPT_LIBRARY = new ScriptLibrary(SHARED_LUA, SCRIPTS);

/**
 * Removes the libraries of other releases from a server; a process that still uses one loads it
 * again.
 */
export async function removeOtherLibraries(server: RedisServer): Promise<void> {
  const pattern = `${NAME_PREFIX}*`;
  const listed = (await server.function("LIST", "LIBRARYNAME", pattern)) as readonly string[][];
  const names = listed.map((library) => library[1 + library.indexOf("library_name")] ?? "");
  const others = names.filter((name) => name !== SCRIPT_LIBRARY.name);
  await Promise.all(others.map((name) => server.function("DELETE", name)));
}

/** Identifies a server until it is restarted. */
export async function runIdOf(server: RedisServer): Promise<string> {
  return /run_id:(\w+)/.exec(await server.info("server"))?.[1] ?? "";
}

function isAlreadyThere(error: unknown): boolean {
  return error instanceof Error && /Library '.*' already exists/.test(error.message);
}
