// Lists everything that a process keeps in memory from one request to the next. The bounds are the
// constants of the code; a test finds collections that are missing here.

import { ACTORS_MAX } from "../../actors/account-actors.ts";
import { END_USERS_KNOWN_MAX } from "../../actors/account-end-users.ts";
import { RUNS_KNOWN_MAX } from "../../actors/account-runs.ts";
import { CALL_KEYS_MAX } from "../../actors/records/keys.ts";
import { OUT_BYTES_KEPT } from "../../actors/redis/resp-connection.ts";
import { REFUSED_KEYS_MAX } from "../../actors/refusal-brake.ts";
import { CACHE_CHARACTERS_MAX, MAPS_PENDING_MAX } from "../../src/annexes/atlas/atlas.ts";
import { BUCKETS, IDEMPOTENCY } from "../../src/core/access/limits.ts";
import { CAUSES_MAX } from "../../src/core/log.ts";
import { PRICES_KNOWN_MAX } from "../../src/core/money/price-version.ts";
import { BODY_BYTES_AT_ONCE } from "../../src/http/body/body-shares.ts";
import { SENDERS_MAX } from "../../src/http/body/minute-budget.ts";
import { ADDRESSES_REMEMBERED_MAX } from "../../src/http/client-info.ts";
import { ABANDONING_KEYS_MAX } from "../../src/services/chat/abandoned-streams.ts";
import { PROMPT_BYTES_AT_ONCE } from "../../src/services/chat/open-prompts.ts";
import { IDENTIFIERS_REMEMBERED_MAX } from "../../src/services/chat/protocols/caller-identifiers.ts";
import { LOCAL_SERVERS, MODELS_MAX } from "../../src/services/chat/protocols/local-models.ts";
import { PINS_MAX } from "../../src/services/chat/protocols/sticky-routes.ts";
import { WAITING_MAX } from "../../src/services/chat/tokens/token-counter.ts";
import { LOOKUPS_MAX } from "../../src/services/maps/providers/maps-provider.ts";
import { TIME_ZONES_MAX } from "../../src/services/maps/providers/territory.ts";
import { SEARCHES_PENDING_MAX } from "../../src/services/search/providers/embedded/embedded-search.ts";
import { LOG_WAITING_MAX } from "../../src/settings/log-output.ts";
import { BATCH_MAX, KEYS_REMEMBERED_MAX } from "../../src/store/accounts/key-directory.ts";
import { RUN_SUMS_KEPT_MAX } from "../../src/store/usage/kept-run-sums.ts";
import { ACCOUNTS_MAX } from "../../src/upstream/breaker.ts";
import { IDLE_MAX, TARGETS_MAX } from "../../src/upstream/http/http-client.ts";
import { BREAKERS_MAX, SERVERS_MAX } from "../../src/upstream/known-servers.ts";
import { WAITING_A_SLOT } from "../../src/upstream/slots.ts";
import { REMEMBERED_BY_WORKERS } from "./remembered-by-workers.ts";
import { number, type Remembered } from "./remembered-row.ts";

export const REMEMBERED: readonly Remembered[] = [
  {
    holders: ["src/store/accounts/key-directory.ts #known"],
    what: "keys that were found",
    most: number(KEYS_REMEMBERED_MAX),
    count: KEYS_REMEMBERED_MAX,
    bytes: 710,
    beyond: "the one used longest ago is looked up again",
  },
  {
    holders: ["src/store/accounts/key-directory.ts #unknown"],
    what: "unknown keys, for 5 s",
    most: number(KEYS_REMEMBERED_MAX),
    count: KEYS_REMEMBERED_MAX,
    bytes: 250,
    beyond: "the oldest is looked up again",
  },
  {
    holders: [
      "src/store/accounts/key-directory.ts #batch",
      "src/store/accounts/key-directory.ts #inFlight",
    ],
    what: "keys that wait for a shared look-up; for one of their own, those of open requests",
    most: number(BATCH_MAX),
    count: BATCH_MAX,
    bytes: 1_000,
    beyond: "503 with `Retry-After: 1`",
  },
  {
    holders: ["src/core/access/keys.ts hashers"],
    what: "secrets of keys",
    most: "one, two at a change",
  },
  {
    holders: ["actors/account-actors.ts #actors"],
    what: "accounts used in the last 5 minutes, with their access documents",
    most: `${number(ACTORS_MAX)}, and those with open calls`,
    count: ACTORS_MAX,
    bytes: 2_000,
    beyond: "the oldest is read from Redis again",
  },
  {
    holders: ["actors/records/keys.ts calls", "actors/account-actor.ts texts"],
    what: "names and texts of the keys of these accounts that make calls, 1,700 bytes for each",
    most: `${number(CALL_KEYS_MAX)} keys of an account`,
    beyond: "they are made again",
  },
  {
    holders: [
      "actors/account-runs.ts #known",
      "actors/account-runs.ts #reading",
      "actors/wallet-upkeep.ts #loading",
    ],
    what: "runs of these accounts, until their access documents change, 330 bytes for each",
    most: `${number(RUNS_KNOWN_MAX)} of an account`,
    beyond: "those known are forgotten, and read from Postgres again",
  },
  {
    holders: ["actors/account-end-users.ts #known", "actors/account-end-users.ts #reading"],
    what: "end users with budgets, until the access documents change, 400 bytes for each",
    most: `${number(END_USERS_KNOWN_MAX)} of an account`,
    beyond: "the one that called longest ago is read from Postgres again",
  },
  {
    holders: ["src/http/kept-answers.ts #entries"],
    what: "answers of the last 10 minutes to calls with an idempotency key, sealed",
    most: `${number(IDEMPOTENCY.answersBytesMax)} bytes`,
    count: IDEMPOTENCY.answersBytesMax,
    bytes: 1,
    beyond: "the oldest go; repeats are told the receipt",
  },
  {
    holders: ["actors/redis/resp-client.ts #heads"],
    what: "heads of commands",
    most: "one a script",
  },
  { holders: ["src/core/deadlines.ts #queues"], what: "time limits", most: "one for each length" },
  {
    holders: ["actors/refusal-brake.ts #counts", "actors/refusal-brake.ts #reports"],
    what: "keys refused in this minute, and counts that Redis did not take yet",
    most: `${number(REFUSED_KEYS_MAX)} each`,
    count: 2 * REFUSED_KEYS_MAX,
    bytes: 1_300,
    beyond: "Redis decides on further keys; further counts miss in the summary row",
  },
  {
    holders: ["actors/process-leases.ts #buckets"],
    what: "buckets with open calls, and the calls of the last 20 s",
    most: number(BUCKETS),
  },
  {
    holders: [
      "actors/redis/resp-client.ts #unsent",
      "actors/redis/resp-connection.ts #pending",
      "actors/redis/resp-connection.ts #ticks",
    ],
    what: "commands that wait for Redis",
    most: "those of the open calls",
    beyond: "each is rejected after its time limit",
  },
  {
    holders: ["actors/redis/resp-reader.ts #open", "actors/redis/resp-reader.ts #pieces"],
    what: "the reply of Redis that is being read",
    most: "one reply",
  },
  {
    holders: ["actors/redis/resp-connection.ts #out"],
    what: "the buffer for what is sent to Redis",
    most: `${number(OUT_BYTES_KEPT)} bytes once it is empty`,
    count: OUT_BYTES_KEPT,
    bytes: 1,
    beyond: "a larger one is replaced",
  },
  { holders: ["src/http/health.ts readings"], what: "the open reading for `/readyz`", most: "1" },
  {
    holders: [
      "chat/tokens/piece-tokens.ts #seen",
      "chat/protocols/openai/openai-provider.ts requests",
      "chat/protocols/ai-sdk/google-token.ts tokens",
      "chat/protocols/sticky-routes.ts #speeds",
      "search/providers/remote/upstream-search.ts requests",
    ].map((place) => `src/services/${place}`),
    what: "tokens a piece of a model's replies; headers for a provider; speeds of routes",
    most: "those of the catalogue",
  },
  {
    holders: ["src/services/chat/abandoned-streams.ts #keys"],
    what: "keys and accounts that left a stream before its first token, for a minute",
    most: number(ABANDONING_KEYS_MAX),
    count: ABANDONING_KEYS_MAX,
    bytes: 480,
    beyond: "the one that left longest ago is forgotten",
  },
  {
    holders: ["known-servers.ts #breakers", "known-servers.ts #names", "breaker.ts #accounts"].map(
      (place) => `src/upstream/${place}`,
    ),
    what: `failures of a model or action on a server, each with ${number(ACCOUNTS_MAX)} accounts`,
    most: number(BREAKERS_MAX),
    count: BREAKERS_MAX,
    bytes: 500,
    beyond: "the one used longest ago begins anew",
  },
  {
    holders: ["src/upstream/upstream-board.ts #members"],
    what: "the services whose servers operators see",
    most: "one for each service that asks servers",
  },
  {
    holders: ["src/upstream/known-servers.ts #slots", "src/upstream/slots.ts #takenBy"],
    what: "requests under way at each server, by account",
    most: `${number(SERVERS_MAX)} servers, \`concurrency\` of each`,
    count: SERVERS_MAX,
    bytes: 1_000,
    beyond: "the server used longest ago begins anew",
  },
  {
    holders: ["src/upstream/slots.ts #waiting"],
    what: "calls that wait for a server",
    most: `${WAITING_A_SLOT} × its \`concurrency\``,
    beyond: "502 `upstream_unreachable`",
  },
  {
    holders: ["#servers", "#idle", "#targets"].map(
      (name) => `src/upstream/http/http-client.ts ${name}`,
    ),
    what: "idle connections to providers, and parsed addresses of models",
    most: `${IDLE_MAX} a server, for 55 seconds; ${number(TARGETS_MAX)} addresses`,
    beyond: "the connection used longest ago is closed; addresses are parsed again",
  },
  {
    holders: ["src/services/chat/tokens/token-counter.ts #waiting"],
    what: "prompts that wait to be estimated",
    most: `${WAITING_MAX.total}, ${WAITING_MAX.account} of an account`,
    beyond: "the bound by bytes is taken",
  },
  {
    holders: ["src/services/chat/protocols/local-models.ts #seen"],
    what: "models of servers on this machine",
    most: `${LOCAL_SERVERS.length} servers, ${MODELS_MAX} models each`,
    beyond: "further models are left out",
  },
  {
    holders: ["src/store/mail/mail-turns.ts #waiting"],
    what: "accounts with mail that is waited for",
    most: "as many as messages that are waited for",
    beyond: "there are no more",
  },
  {
    holders: ["src/upstream/turns.ts #waiting"],
    what: "look-ups of places; requests to a worker thread: searches, maps, texts to count",
    most: `${LOOKUPS_MAX}; ${SEARCHES_PENDING_MAX}, ${MAPS_PENDING_MAX}, 1`,
    beyond: "the next server is asked; texts wait with their prompt",
  },
  {
    holders: ["src/annexes/atlas/atlas.ts #kept"],
    what: "maps that were drawn, as text",
    most: `${number(CACHE_CHARACTERS_MAX)} characters`,
    count: CACHE_CHARACTERS_MAX,
    bytes: 1,
    beyond: "the one used longest ago is drawn again",
  },
  {
    holders: ["src/annexes/atlas/atlas.ts #underWay"],
    what: "maps that are being drawn, each for all who ask for it",
    most: number(MAPS_PENDING_MAX),
    beyond: "the next server is asked",
  },
  {
    holders: [
      "src/annexes/atlas/map-painter.ts #worlds",
      "src/annexes/atlas/font.ts #tables",
      "src/annexes/atlas/font.ts #glyphs",
    ],
    what: "shapes of the world at three details, and letters of the place names",
    most: "what the data files hold",
  },
  {
    holders: ["src/services/maps/providers/territory.ts offsets"],
    what: "time zones",
    most: number(TIME_ZONES_MAX),
    count: TIME_ZONES_MAX,
    bytes: 60_000,
    beyond: "the one used longest ago is made again",
  },
  {
    holders: ["src/http/body/explain.ts CHECKS"],
    what: "compiled checks of the items of long lists that were refused",
    most: "one for each list in the API",
  },
  {
    holders: [
      "src/services/chat/doors/models/models-endpoint.ts lists",
      "src/services/chat/models/catalogue.ts allAliases",
      "src/core/money/call-cost.ts holds",
      "src/services/maps/providers/maps-provider.ts connected",
      "src/settings/catalogue-source.ts #timers",
      "src/store/operators/pauses.ts #targets",
    ],
    what: "what follows from the configuration and the pauses",
    most: "those in force",
    beyond: "earlier ones are collected",
  },
  {
    holders: [
      "src/services/mail/providers/smtp-transport.ts #idle",
      "src/services/mail/providers/smtp-transport.ts #waiting",
    ],
    what: "connections to the mail server, and attempts that wait for one",
    most: "`MAIL_CONNECTIONS` each",
    beyond: "the message waits in its queue",
  },
  {
    holders: ["src/store/mail/mail-queue.ts #listeners"],
    what: "mail calls that wait for their message",
    most: "the open calls",
  },
  {
    holders: ["src/http/body/body-shares.ts #taken"],
    what: "bytes of bodies that are being read, and of prompts in open calls, by account",
    most: "accounts with open requests",
    beyond:
      `an account with more than ${BODY_BYTES_AT_ONCE / 1024 ** 2} MB on their way, ` +
      `or ${PROMPT_BYTES_AT_ONCE / 1024 ** 2} MB in open calls, gets 429`,
  },
  {
    holders: ["src/http/body/minute-budget.ts #used"],
    what: "what keys sent of large bodies in this minute, in bytes and values, and sessions asked",
    most: `three times ${number(SENDERS_MAX)}`,
    count: 3 * SENDERS_MAX,
    bytes: 100,
    beyond: "the one counted first in this minute is counted anew",
  },
  {
    holders: ["src/http/client-info.ts remembered"],
    what: "country and hashes of addresses",
    most: number(ADDRESSES_REMEMBERED_MAX),
    count: ADDRESSES_REMEMBERED_MAX,
    bytes: 510,
    beyond: "the one used longest ago is made again",
  },
  {
    holders: [
      "src/services/chat/protocols/caller-identifiers.ts #parts",
      "src/services/chat/protocols/caller-identifiers.ts #plain",
    ],
    what: "identifiers of callers at providers, and parts of them",
    most: `${number(IDENTIFIERS_REMEMBERED_MAX)} each`,
    count: 2 * IDENTIFIERS_REMEMBERED_MAX,
    bytes: 510,
    beyond: "the one used longest ago is made again",
  },
  {
    holders: ["src/services/chat/protocols/sticky-routes.ts #pins"],
    what: "routes that conversations stay at",
    most: number(PINS_MAX),
    count: PINS_MAX,
    bytes: 220,
    beyond: "the one used longest ago goes where its hash says",
  },
  {
    holders: ["src/services/chat/protocols/caller-identifiers.ts #makers"],
    what: "keys of identifiers at providers",
    most: "one for each `provider` of the configuration",
  },
  {
    holders: ["src/core/money/price-version.ts known", "src/core/money/price-version.ts ofObject"],
    what: "versions of prices",
    most: number(PRICES_KNOWN_MAX),
    count: PRICES_KNOWN_MAX,
    bytes: 310,
    beyond: "the one used longest ago is made again",
  },
  {
    holders: ["src/http/schema.ts patterns"],
    what: "patterns",
    most: "those in the code",
  },
  {
    holders: ["src/site/front-door.ts pages"],
    what: "front pages",
    most: "two of each catalogue that is in use",
  },
  {
    holders: ["src/site/docs/docs-site.ts #written"],
    what: "pages of the documentation and their Markdown, under one name",
    most: "those of the project",
    beyond: "those of an earlier brand are collected",
  },
  {
    holders: ["src/store/usage/kept-run-sums.ts #kept"],
    what: "sums of runs, for twenty times as long as they took to read",
    most: number(RUN_SUMS_KEPT_MAX),
    count: RUN_SUMS_KEPT_MAX,
    bytes: 60_000,
    beyond: "those of the run that was read longest ago are read again",
  },
  {
    holders: ["src/store/servers/ip-hash-secrets.ts #byMonth"],
    what: "secrets of addresses",
    most: "two months",
  },
  {
    holders: ["src/settings/log-output.ts #waiting"],
    what: "lines of the log that nobody took yet",
    most: `${number(LOG_WAITING_MAX)} characters`,
    count: LOG_WAITING_MAX,
    bytes: 1,
    beyond: "further lines are lost, and counted",
  },
  {
    holders: ["src/core/log.ts #recent"],
    what: "causes of the log lines of the last second",
    most: `${number(CAUSES_MAX)} of each message`,
    beyond: "the further ones of a message are counted as one cause",
  },
  {
    holders: ["src/http/telemetry/metrics.ts #known"],
    what: "values of a label of metrics",
    most: "300",
    beyond: "the others are counted as `other`",
  },
  ...REMEMBERED_BY_WORKERS,
];
