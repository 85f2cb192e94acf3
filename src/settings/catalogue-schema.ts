// Defines the sections of the configuration file; catalogue-document.ts puts them together.

import { type Static, Type } from "@sinclair/typebox";
import { MODEL_USE_NAMES } from "../services/chat/models/catalogue.ts";
import { DEFAULT_PRESET, PRESET_NAMES } from "../services/chat/models/provider-presets.ts";
import { ACTIONS } from "../services/maps/actions.ts";
import { EMBEDDED, MAPS_KINDS } from "../services/maps/servers.ts";
import { SEARCH_KINDS } from "../services/search/search-catalogue.ts";
import { apiKeyEnv, baseUrl, closed, line, name, usdAmount, whole } from "./catalogue-fields.ts";
import { bands, rows } from "./price-schema.ts";

/** An entry under `providers`. */
export const Provider = Type.Object(
  {
    provider: Type.Optional(
      Type.Union(
        PRESET_NAMES.map((preset) => Type.Literal(preset)),
        {
          description: `Who runs the server, which decides its form; default ${DEFAULT_PRESET}`,
          errorMessage: `must be one of ${PRESET_NAMES.join(", ")}`,
        },
      ),
    ),
    base_url: Type.Optional(
      baseUrl("Address of the API, without /chat/completions; left out: the provider's own"),
    ),
    api_key_env: Type.Optional(
      apiKeyEnv("Environment variable that holds the API key; left out: no key is sent"),
    ),
    region: Type.Optional(
      name("Region of amazon-bedrock, or location of google-vertex, such as eu-west-1 or global"),
    ),
    project: Type.Optional(name("Project of google-vertex")),
    service_account_env: Type.Optional(
      apiKeyEnv("Environment variable that holds the key file of a Google service account"),
    ),
    access_key_id_env: Type.Optional(
      apiKeyEnv("Environment variable that holds the id of an AWS access key"),
    ),
    secret_access_key_env: Type.Optional(
      apiKeyEnv("Environment variable that holds the secret of the AWS access key"),
    ),
    session_token_env: Type.Optional(
      apiKeyEnv("Environment variable that holds the session token of a temporary AWS access key"),
    ),
    timeouts: Type.Optional(
      Type.Object(
        {
          first_byte_ms: Type.Optional(
            whole(10, 900_000, "Until the first event of a streamed reply; default 60000"),
          ),
          reply_ms: Type.Optional(
            whole(10, 900_000, "For a whole reply that is not streamed; default 300000"),
          ),
          idle_ms: Type.Optional(
            whole(10, 900_000, "Between two events of a streamed reply; default 90000"),
          ),
        },
        { ...closed, description: "In milliseconds" },
      ),
    ),
    concurrency: Type.Optional(
      whole(1, 100_000, "Requests under way at once; more go to the next route; default 256"),
    ),
    max_tokens_field: Type.Optional(
      Type.Union([Type.Literal("max_tokens"), Type.Literal("max_completion_tokens")], {
        description: "Field that carries the output limit; default max_tokens",
        errorMessage: 'must be "max_tokens" or "max_completion_tokens"',
      }),
    ),
  },
  { ...closed, description: "An upstream server" },
);

export type ProviderFile = Static<typeof Provider>;

/** An entry of `models`. */
export const Model = Type.Object(
  {
    id: Type.String({
      pattern: "^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,127}$",
      description: "What callers send as model",
      errorMessage: "must be an id of letters, digits and '._:/@+-'",
    }),
    serves: Type.Optional(
      Type.Union(
        MODEL_USE_NAMES.map((use) => Type.Literal(use)),
        {
          description: "What callers can ask it for; default chat",
          errorMessage: `must be one of ${MODEL_USE_NAMES.join(", ")}`,
        },
      ),
    ),
    label: line("Display name"),
    family: line("Model family"),
    owned_by: line("Owner"),
    context_length: whole(256, 100_000_000, "Tokens of prompt and reply together"),
    created: Type.Optional(
      Type.String({
        pattern: "^\\d{4}-\\d{2}-\\d{2}$",
        description: "The day when the model came out, such as 2026-05-01",
        errorMessage: "must be a date such as 2026-05-01",
      }),
    ),
    free_credit_eligible: Type.Optional(
      Type.Boolean({
        description: "Whether free credit can pay for it; default false",
        errorMessage: "must be true or false",
      }),
    ),
    extra_parameters: Type.Optional(
      Type.Array(
        Type.String({
          pattern: "^[A-Za-z][A-Za-z0-9_]{0,63}$",
          errorMessage: "must be the name of a parameter",
        }),
        {
          maxItems: 64,
          description: "Parameters that it takes besides OpenAI's, such as top_k; default none",
          errorMessage: "must be a list of at most 64 names of parameters",
        },
      ),
    ),
    reasoning: Type.Optional(
      Type.Union([Type.Literal("hide"), Type.Literal("show")], {
        description: "Whether callers get the text of its reasoning; default hide",
        errorMessage: 'must be "hide" or "show"',
      }),
    ),
    pricing: bands("Price bands, shortest prompts first; the last one has no prompt_tokens_max"),
    prices: rows("Price rows, in place of pricing; the first one has no conditions"),
    routes: Type.Array(
      Type.Object(
        {
          provider: name("A name under providers"),
          model: line("The model's name there"),
          buying: bands("What you pay there, as price bands; left out: not known"),
          buying_prices: rows("What you pay there, as price rows, in place of buying"),
        },
        closed,
      ),
      {
        minItems: 1,
        maxItems: 16,
        description: "Tried in order until one answers",
        errorMessage: "must be a list of 1 to 16 routes",
      },
    ),
  },
  { ...closed, description: "A model that callers can ask for" },
);

/** An entry of `search.providers`. */
export const SearchServerFile = Type.Object(
  {
    kind: Type.Union(
      SEARCH_KINDS.map((kind) => Type.Literal(kind)),
      {
        description: "How the server is asked",
        errorMessage: `must be one of ${SEARCH_KINDS.join(", ")}`,
      },
    ),
    name: Type.Optional(name("What the log calls it; left out: its kind")),
    base_url: Type.Optional(
      baseUrl("Address of the API; needed for searxng, known for the hosted services"),
    ),
    api_key_env: Type.Optional(apiKeyEnv("Environment variable that holds the API key")),
    timeout_ms: Type.Optional(whole(10, 60_000, "For one query; default 10000")),
    buying_usd_per_k: Type.Optional(
      usdAmount("What you pay there for 1,000 queries; left out: not known"),
    ),
    concurrency: Type.Optional(
      whole(1, 10_000, "Queries under way at once; more go to the next provider; default 64"),
    ),
  },
  { ...closed, description: "A server that finds results" },
);

/** The section `search`. */
export const Search = Type.Object(
  {
    usd_per_result: Type.Optional(usdAmount("USD per result returned; default 0.0005")),
    providers: Type.Optional(
      Type.Array(SearchServerFile, {
        minItems: 1,
        maxItems: 16,
        description: "Asked in order until one answers; left out: the embedded index",
        errorMessage: "must be a list of 1 to 16 search providers",
      }),
    ),
  },
  { ...closed, description: "Web search; left out: the embedded index" },
);

/** An entry of `maps.providers`. */
export const MapsServerFile = Type.Object(
  {
    kind: Type.Union(
      MAPS_KINDS.map((kind) => Type.Literal(kind)),
      {
        description: "How the server is asked",
        errorMessage: `must be one of ${MAPS_KINDS.join(", ")}`,
      },
    ),
    base_url: baseUrl("Address of the API; of a static-map a template: see docs/maps.md"),
    api_key_env: Type.Optional(apiKeyEnv("Environment variable that holds the API key")),
    timeout_ms: Type.Optional(whole(10, 60_000, "For a whole reply; default 10000")),
    buying_usd_per_k: Type.Optional(
      usdAmount("What you pay there for 1,000 calls; left out: not known"),
    ),
    concurrency: Type.Optional(
      whole(1, 10_000, "Requests under way at once; more go to the next provider; default 32"),
    ),
  },
  { ...closed, description: "A server that serves maps" },
);

const mapsProviders = (action: string) =>
  Type.Optional(
    Type.Array(name(`A name under maps.providers, or ${EMBEDDED}`), {
      maxItems: 16,
      description: `Asked in order for ${action}; empty: the action is not offered`,
      errorMessage: "must be a list of at most 16 names of maps providers",
    }),
  );

/** The section `maps`. */
export const Maps = Type.Object(
  {
    providers: Type.Optional(
      Type.Record(Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" }), MapsServerFile, {
        ...closed,
        description: "Maps servers by name",
      }),
    ),
    actions: Type.Optional(
      Type.Object(
        Object.fromEntries(Object.keys(ACTIONS).map((action) => [action, mapsProviders(action)])),
        { ...closed, description: "Who serves each action; left out: what is built in, if it can" },
      ),
    ),
    standard_usd_per_k: Type.Optional(
      usdAmount("USD per 1,000 calls of the standard actions; default 0.05"),
    ),
    tiles_usd_per_k: Type.Optional(
      usdAmount("USD per 1,000 calls of site_image and site_images; default 0.005"),
    ),
  },
  { ...closed, description: "Maps; left out: what is built in" },
);

/** An entry of `auto.models`. */
const AutoModel = Type.Object(
  {
    quality: Type.Optional(whole(0, 100, "How good it is among the others; default 50")),
    tools: Type.Optional(
      Type.Boolean({
        description: "Whether it can call tools; default true",
        errorMessage: "must be true or false",
      }),
    ),
    prompt_tokens_min: Type.Optional(
      whole(0, 100_000_000, "Shortest prompt that it is chosen for; default 0"),
    ),
    prompt_tokens_max: Type.Optional(
      whole(0, 100_000_000, "Longest prompt that it is chosen for; left out: by its context"),
    ),
    excluded: Type.Optional(
      Type.Boolean({
        description: "True: it is never chosen; default false",
        errorMessage: "must be true or false",
      }),
    ),
  },
  { ...closed, description: "What a model is to the choice" },
);

/** The rules by which `auto` chooses a model. */
export const Auto = Type.Object(
  {
    policy: Type.Optional(
      Type.Union([Type.Literal("cheapest"), Type.Literal("balanced"), Type.Literal("quality")], {
        description: "default balanced",
        errorMessage: 'must be "cheapest", "balanced" or "quality"',
      }),
    ),
    models: Type.Optional(
      Type.Record(Type.String(), AutoModel, { description: "By the id of a model of this file" }),
    ),
  },
  { ...closed, description: "How the Application API chooses where model is auto" },
);
