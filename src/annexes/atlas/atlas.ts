// Gets maps from the atlas thread, for the thread that serves requests, and caches the latest maps.

import { LRUCache } from "lru-cache";
import type { Clock } from "../../core/clock.ts";
import type { Log } from "../../core/log.ts";
import { OpenWork } from "../../core/open-work.ts";
import { ThreadClient } from "../../upstream/thread-client.ts";
import type { AtlasSetup } from "./atlas-setup.ts";
import type { MapRequest } from "./map-drawing.ts";

export interface AtlasOptions {
  readonly directory: string;
  readonly clock: Pick<Clock, "after" | "monotonicMs">;
  readonly log: Log;
}

/** A map takes about 30 ms; with more waiting, the last map would come too late. */
export const MAPS_PENDING_MAX = 100;
const SILENCE_MS = 30_000;
/** Building the data file takes some seconds; it logs its progress. */
const OPEN_MS = 120_000;
const RESTART_MS = 10_000;
export const CACHE_CHARACTERS_MAX = 64 * 1024 * 1024;

export class Atlas {
  readonly #thread: ThreadClient<AtlasSetup, MapRequest, Uint8Array>;
  readonly #underWay = new OpenWork<string>();
  readonly #kept = new LRUCache<string, string>({
    maxSize: CACHE_CHARACTERS_MAX,
    sizeCalculation: (url, key) => key.length + url.length,
  });

  constructor({ directory, clock, log }: AtlasOptions) {
    this.#thread = new ThreadClient({
      name: "The atlas thread",
      start: () => new Worker(new URL("./atlas-thread.ts", import.meta.url)),
      setup: { directory },
      pendingMax: MAPS_PENDING_MAX,
      openMs: OPEN_MS,
      silenceMs: SILENCE_MS,
      restartMs: RESTART_MS,
      clock,
      log,
    });
  }

  /**
   * Makes the thread build the data file. Resolves when the file exists; throws a RouteFailure if
   * it could not be built. Then the thread ends, because only that frees the memory that building
   * took (D-074). The first map starts a new thread: many processes never draw one.
   */
  async build(): Promise<void> {
    await this.#thread.open();
    this.#thread.endIfIdle();
  }

  /**
   * Returns a map as a `data:` URL of a PNG. Accounts take turns. Throws a RouteFailure if the map
   * cannot be drawn.
   */
  async draw(map: MapRequest, account: string): Promise<string> {
    const key = JSON.stringify(map);
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    return await this.#underWay.share(key, async () => {
      const url = await this.#draw(map, account);
      this.#kept.set(key, url);
      return url;
    });
  }

  /** Ends the thread; waiting maps fail. */
  close(): void {
    this.#thread.close();
  }

  async #draw(map: MapRequest, account: string): Promise<string> {
    const png = await this.#thread.request(map, undefined, account);
    return `data:image/png;base64,${png.toBase64()}`;
  }
}
