// Holds the brand and the burn-rate rules for processes that read no models: the workers and the
// command line (D-760). Both come from the configuration in force, or from the file if none is in
// force.

import type { BurnTerms } from "../core/access/burn-rules.ts";
import type { Brand } from "../core/brand/brand.ts";
import { DEFAULT_BRAND } from "../core/brand/brand.ts";
import type { Log } from "../core/log.ts";
import { versionName } from "./catalogue-changes.ts";
import { CatalogueError, parseShared, type SharedSettings } from "./catalogue-file.ts";
import {
  ABSENT,
  type AppliedConfigurations,
  readConfiguration,
  stampOf,
} from "./catalogue-source.ts";

interface BrandSourceOptions {
  readonly applied: AppliedConfigurations;
  /** The file that counts before the first version. */
  readonly path: string;
  readonly log: Pick<Log, "error">;
}

export class BrandSource {
  readonly #options: BrandSourceOptions;
  #current: SharedSettings = { brand: DEFAULT_BRAND, burnRates: [] };
  #version = 0;
  #stamp = ABSENT;

  constructor(options: BrandSourceOptions) {
    this.#options = options;
  }

  /** The brand found by the last `look`; the default brand before the first. */
  readonly read = (): Brand => this.#current.brand;

  /** The operator's burn-rate rules as of the last look; none before the first. */
  readonly burnRates = (): readonly BurnTerms[] => this.#current.burnRates;

  /** Reads a newer configuration, if there is one. A wrong one is logged and changes nothing. */
  async look(): Promise<void> {
    const { applied, path, log } = this.#options;
    try {
      const found = await applied.inForce(this.#version);
      if (found === null) await this.#lookAtFile(path);
      else if (found.text !== null) {
        this.#version = found.version;
        this.#current = parseShared(found.text, versionName(found.version));
      }
    } catch (error) {
      if (!(error instanceof CatalogueError)) throw error;
      log.error(
        { line: error.line },
        `Refused, the brand and burn-rate rules stay: ${error.message}`,
      );
    }
  }

  async #lookAtFile(path: string): Promise<void> {
    const stamp = await stampOf(path);
    if (stamp === this.#stamp) return;
    this.#stamp = stamp;
    // A file that disappears changes nothing, as for models.
    if (stamp !== ABSENT) this.#current = parseShared(await readConfiguration(path), path);
  }
}
