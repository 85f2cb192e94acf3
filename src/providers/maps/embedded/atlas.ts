// The atlas as the serving thread has it: it asks the atlas thread for maps, and keeps those that
// were asked for last.

import type { Log } from "../../../core/log.ts";
import { RouteFailure } from "../../route-failure.ts";
import type { AtlasMessage, AtlasQuestion, AtlasStart } from "./atlas-messages.ts";
import type { MapRequest } from "./map-drawing.ts";

export interface AtlasOptions {
  readonly directory: string;
  readonly log: Log;
}

interface Waiting {
  readonly resolve: (url: string) => void;
  readonly reject: (error: Error) => void;
}

/** Maps under way; one takes some 30 ms, so that more would wait for too long. */
const WAITING_MAX = 100;
const CACHE_CHARACTERS_MAX = 64 * 1024 * 1024;
const BUSY = "The atlas has more maps to draw than it can in time";

export class Atlas {
  /** Resolves when the data file is there; rejects when it could not be built. */
  readonly ready: Promise<void>;
  readonly #thread: Worker;
  readonly #log: Log;
  readonly #waiting = new Map<number, Waiting>();
  readonly #underWay = new Map<string, Promise<string>>();
  readonly #kept = new Map<string, string>();
  #keptCharacters = 0;
  #asked = 0;
  #ended: Error | null = null;

  constructor({ directory, log }: AtlasOptions) {
    this.#log = log;
    this.#thread = new Worker(new URL("./atlas-thread.ts", import.meta.url));
    this.#thread.unref();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.ready = promise;
    // Whoever asks hears of it; until then it is no lost promise.
    promise.catch(() => {});
    this.#thread.onmessage = ({ data }: MessageEvent<AtlasMessage>) => {
      if (data.type === "ready") resolve();
      else this.#hear(data);
    };
    this.#thread.onerror = ({ message }) => {
      log.error({ reason: message }, "The atlas thread ended");
      this.#end();
      reject(new RouteFailure("The atlas thread ended"));
    };
    this.#tell({ type: "start", directory });
  }

  /** A map as a `data:` URL of a PNG. Throws a RouteFailure when it cannot be drawn. */
  async draw(map: MapRequest): Promise<string> {
    const key = JSON.stringify(map);
    const kept = this.#kept.get(key);
    if (kept !== undefined) {
      // Those that were not asked for longest stand first.
      this.#kept.delete(key);
      this.#kept.set(key, kept);
      return kept;
    }
    const underWay = this.#underWay.get(key);
    if (underWay !== undefined) return await underWay;
    const drawing = this.#ask(map).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, drawing);
    const url = await drawing;
    this.#keep(key, url);
    return url;
  }

  close(): void {
    this.#end();
    this.#thread.terminate();
  }

  async #ask(map: MapRequest): Promise<string> {
    await this.ready;
    if (this.#ended !== null) throw this.#ended;
    if (this.#waiting.size >= WAITING_MAX) throw new RouteFailure(BUSY, false);
    const id = ++this.#asked;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    this.#waiting.set(id, { resolve, reject });
    this.#tell({ type: "draw", id, map });
    return await promise;
  }

  #hear(message: Exclude<AtlasMessage, { type: "ready" }>): void {
    if (message.type === "log") {
      this.#log[message.level](message.fields, message.message);
      return;
    }
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.type === "drawn") {
      waiting?.resolve(`data:image/png;base64,${message.png.toBase64()}`);
    } else {
      waiting?.reject(new RouteFailure(`A map could not be drawn: ${message.reason}`));
    }
  }

  #keep(key: string, url: string): void {
    if (this.#kept.has(key)) return;
    this.#kept.set(key, url);
    this.#keptCharacters += key.length + url.length;
    for (const [oldest, old] of this.#kept) {
      if (this.#keptCharacters <= CACHE_CHARACTERS_MAX) break;
      this.#kept.delete(oldest);
      this.#keptCharacters -= oldest.length + old.length;
    }
  }

  #end(): void {
    this.#ended = new RouteFailure("The atlas thread ended");
    for (const { reject } of this.#waiting.values()) reject(this.#ended);
    this.#waiting.clear();
  }

  #tell(message: AtlasStart | AtlasQuestion): void {
    this.#thread.postMessage(message);
  }
}
