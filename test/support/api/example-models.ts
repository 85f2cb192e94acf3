// The models that the documentation's examples ask for, by a provider that no test reaches.

import { EXAMPLE_MODERATOR } from "../../../src/services/chat/doors/moderations/moderations-examples.ts";
import { EXAMPLE_COMPACTOR } from "../../../src/services/chat/doors/responses/responses-examples.ts";
import { EXAMPLE_MODELS } from "../../../src/services/chat/doors/vectors/vector-examples.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { providerAt } from "./chat-routes.ts";
import { MODEL } from "./models.ts";

const provider = providerAt("http://127.0.0.1:9", { name: "ai", kind: "openai-responses" });

export const EXAMPLE_CATALOGUE = catalogueOf(
  [
    MODEL,
    { ...MODEL, id: EXAMPLE_MODELS.embedding, serves: "embedding" },
    { ...MODEL, id: EXAMPLE_MODELS.rerank, serves: "rerank" },
    { ...MODEL, id: EXAMPLE_MODERATOR, serves: "moderation" },
    { ...MODEL, id: EXAMPLE_COMPACTOR, routes: [{ provider: "ai", model: "compactor" }] },
  ],
  [provider],
);
