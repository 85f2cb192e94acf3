// Holds the current catalogue: from the configuration that was applied for all processes; without
// one from the file, and without a file from the model servers of this machine. Changes take effect
// while calls run: a call keeps the catalogue that it began with.

import { isUtf8 } from "node:buffer";
import { readFile, stat } from "node:fs/promises";
import type { Log } from "../core/log.ts";
import { thrownMessage } from "../core/text/error-message.ts";
import { markedEncoding, textOfBytes } from "../core/text/text-bytes.ts";
import { LocalModels, type Probe } from "../services/chat/protocols/local-models.ts";
import { type Catalogue, withDefaults } from "./catalogue.ts";
import { versionName } from "./catalogue-changes.ts";
import { CatalogueError, parseCatalogue } from "./catalogue-file.ts";
import type { Environment } from "./environment.ts";

/** The configurations that were applied for all processes. */
export interface AppliedConfigurations {
  /** Returns the version in force, with its text unless that is `known`; null without one. */
  inForce(known: number): Promise<{ version: number; text: string | null } | null>;
}

export interface CatalogueSourceOptions {
  readonly path: string;
  /** True if the operator named the file: then it must exist. */
  readonly required: boolean;
  /** The environment in which the file's `api_key_env` names are looked up. */
  readonly env: Environment;
  readonly log: Log;
  readonly probe: Probe;
  /** The port of Farebox itself, so that it does not take itself for a model server. */
  readonly ownPort: number | null;
  readonly applied: AppliedConfigurations;
  /** Each process chooses its own interval, so that not all ask at once. */
  readonly appliedEveryMs?: number;
  readonly fileEveryMs?: number;
  readonly serversEveryMs?: number;
}

const APPLIED_EVERY_MS = 2_000;
const FILE_EVERY_MS = 1_000;
const SERVERS_EVERY_MS = 30_000;
const FILE_BYTES_MAX = 16 * 1024 * 1024;

/** The stamp of a file that does not exist. */
export const ABSENT = "absent";

/** A version that is in force but refused by this process. */
export interface RefusedVersion {
  readonly version: number;
  readonly reason: string;
}

type Origin = "applied" | "file" | "servers";

interface Start {
  readonly local: LocalModels;
  readonly stamp: string;
  readonly current: Catalogue;
  readonly from: Origin;
  readonly version: number;
}

/** Holds the catalogue and keeps it up to date until it is closed. */
export class CatalogueSource implements Disposable {
  readonly #options: CatalogueSourceOptions;
  readonly #local: LocalModels;
  readonly #timers: Timer[] = [];
  #current: Catalogue;
  #from: Origin;
  #version: number;
  #refused: RefusedVersion | null = null;
  /** True if the last look at the applied configurations failed. */
  #isAway = false;
  /** Distinguishes one version of the file from the next. */
  #stamp: string;
  #checking: Promise<void> | null = null;
  #checkingApplied: Promise<void> | null = null;
  #closed = false;

  /**
   * Reads the configuration in force or the file, or looks for servers; throws a CatalogueError for
   * a wrong configuration.
   */
  static async open(options: CatalogueSourceOptions): Promise<CatalogueSource> {
    const { path, required, env, applied } = options;
    const local = new LocalModels(options);
    const stamp = await stampOf(path);
    const found = await applied.inForce(0);
    const version = found?.version ?? 0;
    const start = async (from: Origin, current: Catalogue | Promise<Catalogue>) =>
      new CatalogueSource(options, { local, stamp, from, version, current: await current });
    let source: CatalogueSource;
    if (found !== null) source = await start("applied", readApplied(found, env));
    else if (stamp !== ABSENT) source = await start("file", readCatalogue(path, env));
    else if (required)
      throw new CatalogueError(path, { line: null, problem: "there is no such file" });
    else {
      await local.refresh();
      source = await start("servers", withDefaults(local.catalogue()));
    }
    source.#start();
    return source;
  }

  private constructor(options: CatalogueSourceOptions, start: Start) {
    this.#options = options;
    this.#local = start.local;
    this.#stamp = start.stamp;
    this.#current = start.current;
    this.#from = start.from;
    this.#version = start.version;
  }

  /** Returns the current catalogue. */
  current(): Catalogue {
    return this.#current;
  }

  /** The applied version that runs here; 0 without one. */
  get version(): number {
    return this.#version;
  }

  /** The version in force that this process refuses; null if it refuses none. */
  get refused(): RefusedVersion | null {
    return this.#refused;
  }

  /** Looks at the applied configurations now; a newer one is in use once this resolves. */
  async checkApplied(): Promise<void> {
    this.#checkingApplied ??= this.#checkApplied().finally(() => {
      this.#checkingApplied = null;
    });
    await this.#checkingApplied;
  }

  /** Looks at the file now; its changes are in use once this resolves. */
  async checkFile(): Promise<void> {
    this.#checking ??= this.#checkFile().finally(() => {
      this.#checking = null;
    });
    await this.#checking;
  }

  /** Looks for servers now, unless a file or an applied configuration is in use. */
  async checkServers(): Promise<void> {
    if (!this.#isFrom("servers")) return;
    await this.#local.refresh();
    const found = withDefaults(this.#local.catalogue());
    // A configuration may have come meanwhile. Unchanged models keep the same catalogue object.
    if (!this.#isFrom("servers") || Bun.deepEquals(found, this.#current)) return;
    this.#replace(found, "The model servers of this machine changed");
  }

  close(): void {
    this.#closed = true;
    for (const timer of this.#timers) clearInterval(timer);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #start(): void {
    const { path, appliedEveryMs, fileEveryMs, serversEveryMs, log } = this.#options;
    const from = {
      applied: `Models from ${versionName(this.#version)}`,
      file: `Models from ${path}`,
      servers: "Local models",
    };
    this.#replace(this.#current, from[this.#from]);
    if (this.#from === "applied" && this.#stamp !== ABSENT) this.#logUnusedFile(log);
    this.#every(appliedEveryMs ?? APPLIED_EVERY_MS, () => this.checkApplied());
    this.#every(fileEveryMs ?? FILE_EVERY_MS, () => this.checkFile());
    this.#every(serversEveryMs ?? SERVERS_EVERY_MS, () => this.checkServers());
  }

  #every(ms: number, check: () => Promise<void>): void {
    const timer = setInterval(() => {
      check().catch((err) => this.#options.log.error({ err }, "The catalogue was not looked at"));
    }, ms);
    timer.unref();
    this.#timers.push(timer);
  }

  async #checkApplied(): Promise<void> {
    const { applied, env, log } = this.#options;
    let found: Awaited<ReturnType<AppliedConfigurations["inForce"]>>;
    try {
      found = await applied.inForce(this.#version);
      this.#isAway = false;
    } catch (error) {
      if (!this.#isAway) log.warn({ err: error }, "The configuration in force cannot be looked up");
      this.#isAway = true;
      return;
    }
    if (this.#closed || found === null) return;
    if (found.text === null) {
      this.#refused = null;
      return;
    }
    try {
      const catalogue = readApplied(found, env);
      this.#refused = null;
      this.#from = "applied";
      this.#version = found.version;
      this.#replace(catalogue, `Models from ${versionName(found.version)}`);
    } catch (error) {
      if (!(error instanceof CatalogueError)) throw error;
      // The configuration is read again at each look: a key that is missing on this machine may
      // come.
      if (this.#refused?.reason !== error.message) {
        log.error({ line: error.line }, `Refused, the models stay: ${error.message}`);
      }
      this.#refused = { version: found.version, reason: error.message };
    }
  }

  async #checkFile(): Promise<void> {
    const { path, env, log } = this.#options;
    const stamp = await stampOf(path);
    if (stamp === this.#stamp || this.#closed) return;
    this.#stamp = stamp;
    if (this.#isFrom("applied")) {
      if (stamp !== ABSENT) this.#logUnusedFile(log);
      return;
    }
    if (stamp === ABSENT) {
      log.warn({ file: path }, "The configuration file is gone; its models stay until it is back");
      return;
    }
    try {
      const catalogue = await readCatalogue(path, env);
      // A configuration may have been applied meanwhile.
      if (this.#closed || this.#isFrom("applied")) return;
      this.#from = "file";
      this.#replace(catalogue, `Models from ${path}`);
    } catch (error) {
      if (!(error instanceof CatalogueError)) throw error;
      log.error({ file: path, line: error.line }, `Refused, the models stay: ${error.message}`);
    }
  }

  #replace(catalogue: Catalogue, message: string): void {
    this.#current = catalogue;
    this.#options.log.info({ models: [...catalogue.models.keys()] }, message);
  }

  #logUnusedFile(log: Log): void {
    const message = "The configuration file is not used: one is in force for all processes";
    log.warn({ file: this.#options.path, version: this.#version }, message);
  }

  #isFrom(origin: Origin): boolean {
    return this.#from === origin;
  }
}

/** Returns a different stamp whenever the file was written, replaced or removed. */
export async function stampOf(path: string): Promise<string> {
  try {
    const { mtimeNs, ctimeNs, ino, size } = await stat(path, { bigint: true });
    return `${mtimeNs} ${ctimeNs} ${ino} ${size}`;
  } catch {
    // A file that cannot be read, for any reason, counts as absent.
    return ABSENT;
  }
}

function readApplied(
  { version, text }: { readonly version: number; readonly text: string | null },
  env: Environment,
): Catalogue {
  return parseCatalogue(text ?? "", env, { fileName: versionName(version) });
}

async function readCatalogue(path: string, env: Environment): Promise<Catalogue> {
  return parseCatalogue(await readConfiguration(path), env, { fileName: path });
}

/** The text of a configuration file. @throws CatalogueError if it cannot be read */
export async function readConfiguration(path: string): Promise<string> {
  const bytes = await readFile(path).catch((error: unknown) => {
    const reason = thrownMessage(error);
    throw new CatalogueError(path, { line: null, problem: `it cannot be read: ${reason}` });
  });
  if (bytes.byteLength > FILE_BYTES_MAX) {
    throw new CatalogueError(path, {
      line: null,
      problem: "it is larger than any such file may be",
    });
  }
  if (markedEncoding(bytes) === null && !isUtf8(bytes)) {
    throw new CatalogueError(path, { line: null, problem: "it is not UTF-8" });
  }
  return textOfBytes(bytes);
}
