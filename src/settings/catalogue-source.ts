// The catalogue of this moment: from the configuration file, read again whenever it changes, or
// without one from the model servers of this machine.

import { readFile, stat } from "node:fs/promises";
import type { Log } from "../core/log.ts";
import { LocalModels, type Probe } from "../services/chat/providers/local-models.ts";
import { type Catalogue, withDefaults } from "./catalogue.ts";
import { CatalogueError, parseCatalogue } from "./catalogue-file.ts";
import type { Environment } from "./environment.ts";

export interface CatalogueSourceOptions {
  readonly path: string;
  /** True when the operator named the file: then it must be there. */
  readonly required: boolean;
  /** Where the file's `api_key_env` names are looked up. */
  readonly env: Environment;
  readonly log: Log;
  readonly probe: Probe;
  /** Where Farebox listens, so that it does not take itself for a model server. */
  readonly ownPort: number | null;
  readonly fileEveryMs?: number;
  readonly serversEveryMs?: number;
}

const FILE_EVERY_MS = 1_000;
const SERVERS_EVERY_MS = 30_000;
const FILE_BYTES_MAX = 16 * 1024 * 1024;

/** What a file that is not there has for a stamp. */
const ABSENT = "absent";

/** Holds the catalogue and keeps it up to date until it is closed. */
export class CatalogueSource implements Disposable {
  readonly #options: CatalogueSourceOptions;
  readonly #local: LocalModels;
  readonly #timers: Timer[] = [];
  #current: Catalogue;
  #from: "file" | "servers";
  /** Tells one version of the file from the next. */
  #stamp: string;
  #checking: Promise<void> | null = null;
  #closed = false;

  /** Reads the file, or looks for servers; throws a CatalogueError for a file that is wrong. */
  static async open(options: CatalogueSourceOptions): Promise<CatalogueSource> {
    const { path, required, env } = options;
    const local = new LocalModels(options);
    const stamp = await stampOf(path);
    if (stamp === ABSENT && required) throw new CatalogueError(path, null, "there is no such file");
    if (stamp === ABSENT) await local.refresh();
    const current =
      stamp === ABSENT ? withDefaults(local.catalogue()) : await readCatalogue(path, env);
    const source = new CatalogueSource(options, { local, stamp, current });
    source.#start();
    return source;
  }

  private constructor(
    options: CatalogueSourceOptions,
    start: { readonly local: LocalModels; readonly stamp: string; readonly current: Catalogue },
  ) {
    this.#options = options;
    this.#local = start.local;
    this.#stamp = start.stamp;
    this.#current = start.current;
    this.#from = start.stamp === ABSENT ? "servers" : "file";
  }

  /** The catalogue of this moment. */
  current(): Catalogue {
    return this.#current;
  }

  /** Looks at the file now; what is new in it counts once this resolves. */
  async checkFile(): Promise<void> {
    this.#checking ??= this.#checkFile().finally(() => {
      this.#checking = null;
    });
    await this.#checking;
  }

  /** Without a file, looks for servers now. */
  async checkServers(): Promise<void> {
    if (this.#from === "file") return;
    await this.#local.refresh();
    const found = withDefaults(this.#local.catalogue());
    // The file may have come meanwhile. The same models stay the same catalogue.
    if (this.#isFromFile() || Bun.deepEquals(found, this.#current)) return;
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
    const { path, fileEveryMs, serversEveryMs } = this.#options;
    this.#replace(this.#current, this.#from === "file" ? `Models from ${path}` : "Local models");
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

  async #checkFile(): Promise<void> {
    const { path, env, log } = this.#options;
    const stamp = await stampOf(path);
    if (stamp === this.#stamp || this.#closed) return;
    this.#stamp = stamp;
    if (stamp === ABSENT) {
      log.warn({ file: path }, "The configuration file is gone; its models stay until it is back");
      return;
    }
    try {
      const catalogue = await readCatalogue(path, env);
      if (this.#closed) return;
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

  #isFromFile(): boolean {
    return this.#from === "file";
  }
}

/** Another one whenever the file was written, replaced or removed. */
async function stampOf(path: string): Promise<string> {
  try {
    const { mtimeNs, ctimeNs, ino, size } = await stat(path, { bigint: true });
    return `${mtimeNs} ${ctimeNs} ${ino} ${size}`;
  } catch {
    // A file that cannot be looked at, for whatever reason, is not there.
    return ABSENT;
  }
}

async function readCatalogue(path: string, env: Environment): Promise<Catalogue> {
  return parseCatalogue(await readConfiguration(path), env, { fileName: path });
}

async function readConfiguration(path: string): Promise<string> {
  try {
    const bytes = await readFile(path);
    if (bytes.byteLength <= FILE_BYTES_MAX) return new TextDecoder().decode(bytes);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CatalogueError(path, null, `it cannot be read: ${reason}`);
  }
  throw new CatalogueError(path, null, "it is larger than any such file may be");
}
