// The schema of an entry of `providers` in the configuration file.

import { type Static, Type } from "@sinclair/typebox";
import {
  apiKeyEnv,
  closed,
  name,
  percent,
  webAddress,
  whole,
} from "../../../core/configuration/fields.ts";
import { IDENTIFIER_FIELDS, REPLY_TIMEOUT_MAX_MS } from "../models/catalogue.ts";
import { DEFAULT_PRESET, PRESET_NAMES } from "../models/provider-presets.ts";

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
      webAddress("Address of the API, without /chat/completions; left out: the provider's own"),
    ),
    api_key_env: Type.Optional(
      apiKeyEnv("Environment variable that holds the API key; left out: no key is sent"),
    ),
    identifiers: Type.Optional(
      Type.Array(
        Type.Union(
          IDENTIFIER_FIELDS.map((field) => Type.Literal(field)),
          { errorMessage: `must be one of ${IDENTIFIER_FIELDS.join(", ")}` },
        ),
        {
          maxItems: IDENTIFIER_FIELDS.length,
          uniqueItems: true,
          description:
            "Fields for identifiers of callers, keyed hashes; [] sends none; left out: those " +
            "that the provider knows",
          errorMessage: "must be a list of different fields",
        },
      ),
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
            whole(
              10,
              REPLY_TIMEOUT_MAX_MS,
              "For a whole reply that is not streamed; default 300000",
            ),
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
    cache_minutes: Type.Optional(
      whole(
        1,
        1_440,
        "How long its cache keeps a prompt after the last use; left out: the provider's own",
      ),
    ),
    max_tokens_field: Type.Optional(
      Type.Union([Type.Literal("max_tokens"), Type.Literal("max_completion_tokens")], {
        description: "Field that carries the output limit; left out: the provider's own",
        errorMessage: 'must be "max_tokens" or "max_completion_tokens"',
      }),
    ),
    markup_percent: Type.Optional(
      percent("What farebox prices adds to buying prices here to make selling prices"),
    ),
  },
  { ...closed, description: "An upstream server" },
);

export type ProviderFile = Static<typeof Provider>;
