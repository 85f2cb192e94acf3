// The atlas, for the thread that serves requests: it gets maps from the atlas thread, and caches
// the latest ones.

import type { Log } from "../../../../core/log.ts";
import { RouteFailure } from "../../../../upstream/route-failure.ts";
import type { AtlasMessage, AtlasQuestion, AtlasStart } from "./atlas-messages.ts";
import type { MapRequest } from "./map-drawing.ts";

export interface AtlasOptions {
  readonly directory: string;
  readonly log: Log;
}

interface Thread {
  readonly worker: Worker;
  readonly opened: Promise<void>;
  /** Rejects those who wait for the thread to open. */
  readonly giveUp: () => void;
}

interface Waiting {
  readonly resolve: (url: string) => void;
  readonly reject: (error: Error) => void;
}

/** The maximum of waiting maps: one takes about 30 ms, so more would wait for too long. */
export const MAPS_WAITING_MAX = 100;
export const CACHE_CHARACTERS_MAX = 64 * 1024 * 1024;
const BUSY = "The atlas has more maps to draw than it can in time";

export class Atlas {
  readonly #options: AtlasOptions;
  readonly #waiting = new Map<number, Waiting>();
  readonly #underWay = new Map<string, Promise<string>>();
  readonly #kept = new Map<string, string>();
  #thread: Thread | null = null;
  #keptCharacters = 0;
  #lastId = 0;
  #isClosed = false;

  constructor(options: AtlasOptions) {
    this.#options = options;
  }

  /**
   * Starts the thread, unless it runs. Resolves when the data file exists; throws a RouteFailure if
   * it could not be built. Otherwise the first map starts the thread: many processes never draw
   * one.
   */
  async open(): Promise<void> {
    if (this.#isClosed) throw ended();
    this.#thread ??= this.#start();
    await this.#thread.opened;
  }

  /** A map as a `data:` URL of a PNG. Throws a RouteFailure if it cannot be drawn. */
  async draw(map: MapRequest): Promise<string> {
    const key = JSON.stringify(map);
    const kept = this.#kept.get(key);
    if (kept !== undefined) {
      // Keeps the least recently used maps at the front.
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

  /** Ends the thread; waiting maps fail. */
  close(): void {
    this.#isClosed = true;
    this.#thread?.worker.terminate();
    this.#thread?.giveUp();
    this.#end();
  }

  #start(): Thread {
    const { directory, log } = this.#options;
    const worker = new Worker(new URL("./atlas-thread.ts", import.meta.url));
    worker.unref();
    const { promise: opened, resolve, reject } = Promise.withResolvers<void>();
    worker.onmessage = ({ data }: MessageEvent<AtlasMessage>) => {
      if (data.type === "ready") resolve();
      else this.#hear(data);
    };
    worker.onerror = ({ message }) => {
      log.error({ reason: message }, "The atlas thread ended");
      // The next map starts a new thread.
      this.#thread = null;
      this.#end();
      reject(ended());
    };
    const start: AtlasStart = { type: "start", directory };
    worker.postMessage(start);
    return { worker, opened, giveUp: () => reject(ended()) };
  }

  async #ask(map: MapRequest): Promise<string> {
    await this.open();
    // The thread may have ended during the wait.
    const thread = this.#thread;
    if (this.#isClosed || thread === null) throw ended();
    if (this.#waiting.size >= MAPS_WAITING_MAX) throw new RouteFailure(BUSY, "nobody");
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    this.#waiting.set(id, { resolve, reject });
    const question: AtlasQuestion = { type: "draw", id, map };
    thread.worker.postMessage(question);
    return await promise;
  }

  #hear(message: Exclude<AtlasMessage, { type: "ready" }>): void {
    if (message.type === "log") {
      this.#options.log[message.level](message.fields, message.message);
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
    for (const { reject } of this.#waiting.values()) reject(ended());
    this.#waiting.clear();
  }
}

function ended(): RouteFailure {
  return new RouteFailure("The atlas thread ended");
}
