// Finds model servers on this machine without configuration: any server that answers like an OpenAI
// API on the default port of a well-known server.

import { OK } from "../../../core/errors.ts";
import { isObject } from "../../../core/text/json.ts";
import { RouteFailure } from "../../../upstream/route-failure.ts";
import { TimeLimit } from "../../../upstream/time-limit.ts";
import {
  exchange,
  type Fetch,
  parseJson,
  readText,
  unreadFailure,
} from "../../../upstream/upstream-http.ts";
import {
  bandPrices,
  type ChatCatalogue,
  chatCatalogueOf,
  type ModelEntry,
  PROVIDER_DEFAULTS,
  type ProviderEntry,
  RESERVED_MODELS,
} from "../models/catalogue.ts";

/** Asks a server of this machine. */
export type Probe = Fetch;

export interface LocalModelsOptions {
  readonly probe: Probe;
  /** The port of Farebox itself, which is not probed. */
  readonly ownPort: number | null;
}

/**
 * The default ports of the servers. The first server that offers a model keeps the model's name.
 */
export const LOCAL_SERVERS = [
  { name: "ollama", title: "Ollama", port: 11434 },
  { name: "llama.cpp", title: "llama.cpp", port: 8080 },
  { name: "vllm", title: "vLLM", port: 8000 },
  { name: "lm-studio", title: "LM Studio", port: 1234 },
] as const;

type LocalServer = (typeof LOCAL_SERVERS)[number];

const PROBE_MS = 500;
const LIST_BYTES_MAX = 1024 * 1024;
export const MODELS_MAX = 200;
/** A server may miss one probe while it restarts. */
const MISSES_MAX = 1;
/** A small price, so that there is something to count. */
const PRICES = bandPrices({ input: "0.10", output: "0.40" });
/**
 * The context if the server does not report one. The number is large, because higher usage is
 * dropped.
 */
const CONTEXT_TOKENS = 131_072;
const NOT_FOR_CHAT = /embed|rerank|whisper/i;

interface Offer {
  readonly model: string;
  readonly contextTokens: number;
}

interface Seen {
  readonly offers: readonly Offer[];
  misses: number;
}

/** The models that the servers of this machine offer, as of the last `refresh`. */
export class LocalModels {
  readonly #servers: readonly LocalServer[];
  readonly #probe: Probe;
  readonly #seen = new Map<LocalServer, Seen>();

  constructor({ probe, ownPort }: LocalModelsOptions) {
    this.#probe = probe;
    this.#servers = LOCAL_SERVERS.filter(({ port }) => port !== ownPort);
  }

  /**
   * Queries all servers at the same time. A server that does not answer in time is busy, and keeps
   * its models: otherwise a few long calls would take the models away from every caller.
   */
  async refresh(): Promise<void> {
    await Promise.all(
      this.#servers.map(async (server) => {
        const offers = await this.#ask(server);
        if (offers === "busy") return;
        const seen = this.#seen.get(server);
        if (offers !== null) this.#seen.set(server, { offers, misses: 0 });
        else if (seen !== undefined && seen.misses < MISSES_MAX) seen.misses += 1;
        else this.#seen.delete(server);
      }),
    );
  }

  /** The models of the servers that answered. */
  catalogue(): ChatCatalogue {
    const taken = new Set<string>(RESERVED_MODELS);
    const models: ModelEntry[] = [];
    const providers: ProviderEntry[] = [];
    for (const server of LOCAL_SERVERS) {
      const seen = this.#seen.get(server);
      if (seen === undefined || seen.offers.length === 0) continue;
      providers.push(providerOf(server));
      for (const offer of seen.offers) {
        const model = modelOf(offer, server, taken);
        if (model === null) continue;
        taken.add(model.id);
        models.push(model);
      }
    }
    return chatCatalogueOf(models, providers);
  }

  async #ask({ port }: LocalServer): Promise<readonly Offer[] | "busy" | null> {
    const limit = new TimeLimit(PROBE_MS);
    try {
      const url = `http://127.0.0.1:${port}/v1/models`;
      const request = { fetch: this.#probe, url, method: "GET", headers: {}, limit } as const;
      const list = await exchange(request, async (response) => {
        if (response.status !== OK) throw await unreadFailure(response);
        return await readText(response, LIST_BYTES_MAX);
      });
      return offersOf(parseJson(list));
    } catch (error) {
      if (error instanceof RouteFailure && error.blames === "server") return "busy";
      // No server listens there, or a server with another protocol.
      return null;
    }
  }
}

/**
 * The models of a list. Null for another value, or the list of a Farebox, which could cause a loop.
 */
function offersOf(list: unknown): Offer[] | null {
  if (!isObject(list) || !Array.isArray(list.data)) return null;
  const entries = list.data.slice(0, MODELS_MAX).filter(isObject);
  if (entries.some((entry) => entry.svc !== undefined)) return null;
  const offers = new Map<string, Offer>();
  for (const { id, max_model_len: length } of entries) {
    if (typeof id !== "string" || NOT_FOR_CHAT.test(id) || !isOneLine(id)) continue;
    const isLength = Number.isSafeInteger(length) && Number(length) >= 256;
    offers.set(id, { model: id, contextTokens: isLength ? Number(length) : CONTEXT_TOKENS });
  }
  return [...offers.values()];
}

function isOneLine(id: string): boolean {
  return /^[^\p{Cc}]{1,200}$/u.test(id);
}

function providerOf({ name, port }: LocalServer): ProviderEntry {
  return {
    ...PROVIDER_DEFAULTS,
    name,
    kind: "openai",
    baseUrl: `http://127.0.0.1:${port}/v1`,
    apiKey: null,
  };
}

function modelOf(
  { model, contextTokens }: Offer,
  { name, title }: LocalServer,
  taken: ReadonlySet<string>,
): ModelEntry | null {
  const clean = cleanId(model);
  const id = taken.has(clean) ? `${clean}@${name}` : clean;
  if (clean === "" || taken.has(id)) return null;
  return {
    id,
    label: `${id} (local, ${title})`,
    family: clean.split(":")[0] ?? clean,
    ownedBy: name,
    prices: PRICES,
    contextTokens,
    maxOutputTokens: contextTokens,
    freeCreditEligible: true,
    routes: [{ provider: name, model }],
  };
}

/** The id for callers. If the server's id is the path of a file, only the file's name is used. */
function cleanId(model: string): string {
  const isPath = /^[/\\~.]|^[A-Za-z]:\\|\.gguf$/i.test(model);
  const name = isPath ? (model.split(/[/\\]/).at(-1) ?? "") : model;
  return name
    .replace(/[^A-Za-z0-9._:/@+-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, 100);
}
