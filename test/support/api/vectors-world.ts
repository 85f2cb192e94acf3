// An API with models for embeddings and ranks, whose servers a test scripts over a socket.

import { pricesOf } from "../../../src/core/money/call-cost.ts";
import { price } from "../../../src/core/money/money.ts";
import type { RowPrices } from "../../../src/core/money/price-rows.ts";
import { bandPrices, type ModelEntry } from "../../../src/services/chat/models/catalogue.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { startWireServer, type WireServer } from "../fakes/wire/wire-server.ts";
import { closedGate, type Gate } from "../gate.ts";
import { shared, sharedServer } from "../shared.ts";
import type { ApiWorld } from "./api-world.ts";
import { chatOver, modelOf, providerAt } from "./chat-routes.ts";
import { MODEL } from "./models.ts";
import { sharedApi } from "./shared-api.ts";

/** A server that answers only when the test lets it. */
export interface SlowServer {
  gate: Gate;
}

export interface VectorsWorld {
  readonly slow: SlowServer;
  readonly api: ApiWorld;
  /** Speaks OpenAI's form. */
  readonly server: WireServer;
  /** Serves the same models if the first one fails. */
  readonly second: WireServer;
  /** Cohere. */
  readonly cohere: WireServer;
}

/** $1 a million tokens. */
const BY_TOKENS = bandPrices({ input: "1", output: "0" });
/** $2 for a thousand searches. */
export const BY_SEARCH = feePrices({ search_unit: { price: price("2", 1_000), per: "call" } });
/** $1 for a thousand documents. */
const BY_DOCUMENT = feePrices({ document: { price: price("1", 1_000), per: "call" } });

export async function sharedVectors(): Promise<VectorsWorld> {
  const [server, second, cohere] = [
    await shared(startWireServer()),
    await shared(startWireServer()),
    await shared(startWireServer()),
  ];
  const slow: SlowServer = { gate: closedGate() };
  const waiting = sharedServer(async () => {
    await slow.gate.pass();
    return Response.json({ data: [{ index: 0, embedding: [1] }], usage: { prompt_tokens: 2 } });
  });
  const providers = [
    providerAt(`http://127.0.0.1:${waiting.port}`, { name: "slow-ai" }),
    providerAt(server.url, { name: "first-ai" }),
    providerAt(second.url, { name: "second-ai" }),
    providerAt(`${cohere.url}/v2`, { name: "cohere-ai", kind: "cohere" }),
  ];
  const model = (
    id: string,
    more: Partial<ModelEntry>,
    ...names: readonly string[]
  ): ModelEntry => ({
    ...modelOf(...names.map((name) => [name, `${id}-upstream`] as const)),
    id,
    prices: BY_TOKENS,
    ...more,
  });
  const embedding = { serves: "embedding", contextTokens: 300 } as const;
  const rerank = { serves: "rerank" } as const;
  const models = [
    { ...MODEL, id: "chatty" },
    model("vectors", { ...embedding, extraParameters: ["input_type"] }, "first-ai"),
    model("slow-vectors", embedding, "slow-ai"),
    model("two-routes", embedding, "first-ai", "second-ai"),
    model("paid-vectors", { ...embedding, freeCreditEligible: false }, "first-ai"),
    model("ranks", rerank, "first-ai"),
    model("cohere-ranks", { ...rerank, prices: BY_SEARCH }, "cohere-ai"),
    model("search-ranks", { ...rerank, prices: BY_SEARCH }, "first-ai"),
    model("document-ranks", { ...rerank, prices: BY_DOCUMENT }, "first-ai"),
  ];
  const catalogue = catalogueOf(models, providers);
  const api = await sharedApi({ catalogue: () => catalogue, chat: chatOver(catalogue) });
  return { api, slow, server, second, cohere };
}

function feePrices(fees: RowPrices["fees"] & object) {
  const none = price("0", 1);
  return pricesOf([{ input: none, output: none, cachedInput: null, fees }]);
}
