// Defines every environment variable of Farebox. A new variable needs only an entry: its value is
// checked and typed by the entry, and `npm run docs` writes it into .env.example and the
// documentation.

import { FREE_PLAN_ALLOWANCE } from "../core/access/limits.ts";
import { toDecimal } from "../core/money/money.ts";
import type { Variables } from "./environment.ts";
import {
  addresses,
  amount,
  anyText,
  apiKey,
  choice,
  dkimSelector,
  domain,
  flag,
  hostNames,
  mailServer,
  postgresAddress,
  pricePerThousand,
  redisAddress,
  rsaKey,
  seconds,
  secretList,
  whole,
} from "./variable-kinds.ts";

const PORT_MAX = 65_535;

/** The folder of files that are built from data. */
export const DATA_VARIABLES = {
  FAREBOX_DATA: {
    kind: anyText,
    shown: "`.farebox/data`",
    about: "the folder of files that Farebox makes from data, such as indexes",
  },
} as const satisfies Variables;

/** The variables that every program needs. */
export const STORE_VARIABLES = {
  REDIS_URL: {
    kind: redisAddress,
    required: true,
    isSecret: true,
    shown: "a private Redis",
    about:
      "the money Redis, version 7: [one server, a Unix socket, a Cluster or " +
      "Sentinels](operating.md#redis-of-your-own), with TLS or without",
  },
  DATABASE_URL: {
    kind: postgresAddress,
    required: true,
    isSecret: true,
    shown: "a private Postgres",
    about: "Postgres 18, which has the ledger: `postgres://…`",
  },
  DATABASE_POOLER: {
    kind: choice(["none", "transaction"]),
    default: "none",
    about:
      "`transaction` where `DATABASE_URL` leads to a [connection pooler]" +
      "(operating.md#a-pooler-in-front-of-postgres), such as PgBouncer in transaction mode",
  },
  DATABASE_DIRECT_URL: {
    kind: postgresAddress,
    isSecret: true,
    shown: "`DATABASE_URL`",
    about: "the same Postgres without the pooler, for migrations and notifications; needed with it",
  },
  KEY_PEPPER: {
    kind: secretList,
    required: true,
    isSecret: true,
    shown: "made at the first start",
    about:
      "secret of at least 16 characters that API keys are digested with; a list to " +
      "[replace it](operating.md#replace-a-secret)",
  },
  IP_HASH_SECRET: {
    kind: secretList,
    required: true,
    isSecret: true,
    shown: "made at the first start",
    about: "secret of at least 16 characters that client addresses are hashed with; a list, too",
  },
  SAFETY_ID_SECRET: {
    kind: secretList,
    isSecret: true,
    shown: "derived from `KEY_PEPPER`",
    about:
      "secret of at least 16 characters that the [identifiers of callers]" +
      "(providers.md#identifiers) at providers are made with; a list, too",
  },
  RECEIPT_SECRET: {
    kind: secretList,
    isSecret: true,
    shown: "derived from `KEY_PEPPER`",
    about:
      "secret of at least 16 characters that the keys of [signed receipts](receipts.md) are made " +
      "of; a list, too",
  },
  ...DATA_VARIABLES,
} as const satisfies Variables;

/** The variables of sending mail. */
export const MAIL_VARIABLES = {
  MAIL_DOMAIN: {
    kind: domain,
    // A domain that no mail can reach: without configuration, no mail is delivered.
    default: "farebox.invalid",
    about: "the domain that all mail is sent from; needed with `MAIL_SMTP_URL`",
  },
  MAIL_SMTP_URL: {
    kind: mailServer,
    isSecret: true,
    shown: "the sink",
    about:
      "the mail server: `smtp://USER:PASSWORD@HOST:587` or `smtps://…`, with `?tls=` if need be",
  },
  MAIL_DKIM_SELECTOR: {
    kind: dkimSelector,
    about: "the selector of the DKIM record; mail is signed when it and the key are set",
  },
  MAIL_DKIM_KEY: {
    kind: rsaKey,
    isSecret: true,
    about: "the private RSA key of the DKIM record, PEM without a passphrase",
  },
  MAIL_BOUNCE_PORT: {
    kind: whole(0, PORT_MAX),
    default: "0",
    shown: "0: nowhere",
    about: "the port where a worker listens for bounces",
  },
  MAIL_BOUNCE_HOST: {
    kind: anyText,
    default: "127.0.0.1",
    about: "the address that it listens on",
  },
  MAIL_BOUNCE_DOMAIN: {
    kind: domain,
    shown: "`MAIL_DOMAIN`",
    about: "the domain of return paths",
  },
  MAIL_CONNECTIONS: {
    kind: whole(1, 1_000),
    default: "10",
    about: "connections of each worker to the mail server",
  },
  MAIL_TIMEOUT_SECONDS: {
    kind: seconds(1, 600),
    default: "20",
    about: "the time limit of a step of the conversation; the whole has three times as long",
  },
  MAIL_BUYING_USD_PER_K: {
    kind: pricePerThousand,
    about: "what you pay for 1,000 accepted recipients, for the [margin](operating.md#margin)",
  },
  MAIL_WAIT_SECONDS: {
    kind: seconds(0, 60),
    default: "10",
    about: "how long a request waits for the mail server before it is told `queued`",
  },
} as const satisfies Variables;

/** The variables of the API and the workers besides stores and mail. */
export const SERVER_VARIABLES = {
  HOST: {
    kind: anyText,
    default: "127.0.0.1",
    about: "the address that the API listens on; `0.0.0.0` is every one",
  },
  PORT: {
    kind: whole(0, PORT_MAX),
    default: "8080",
    about: "the port of the API; without it `npm start` takes the next one that is free",
  },
  PORT_SHARED: {
    kind: flag,
    default: "true",
    shown: "true, `npm start` false",
    about: "whether other API processes of this user may listen on the same port",
  },
  METRICS_PORT: {
    kind: whole(0, PORT_MAX),
    shown: "9464, worker 9465",
    about:
      "the port of `GET /metrics`; 0 takes any free one. A port that is named and taken ends the " +
      "start; under `npm start` the worker has the one after it",
  },
  METRICS_HOST: {
    kind: anyText,
    default: "127.0.0.1",
    about: "the address that `GET /metrics` listens on",
  },
  DRAIN_SECONDS: {
    kind: seconds(0, 960),
    default: "60",
    shown: "60; `npm start` sets 20",
    about:
      "how long open calls may go on when the API is [told to stop]" +
      "(operating.md#stop-a-process); then streams are interrupted",
  },
  DRAIN_NOTICE_SECONDS: {
    kind: seconds(0, 60),
    default: "0",
    about:
      "how long the API still takes requests when it is told to stop, while `/readyz` answers 503",
  },
  QUEUE_REDIS_URL: {
    kind: redisAddress,
    isSecret: true,
    shown: "`REDIS_URL`",
    about: "a Redis of its own for the job queue",
  },
  TRUSTED_PROXIES: {
    kind: addresses,
    default: "",
    shown: "none",
    about: "addresses and CIDR blocks, joined with commas, whose `X-Forwarded-For` is believed",
  },
  MCP_HOSTS: {
    kind: hostNames,
    default: "",
    shown: "this machine, and the host of `CONSOLE_URL`",
    about:
      "names of hosts, joined with commas, under which agents may reach `/mcp`; others are " +
      "refused, since foreign pages reach services behind a firewall by names of their own",
  },
  FAREBOX_CONFIG: {
    kind: anyText,
    shown: "`farebox.config.json`",
    about: "the file of models; one that is named here must exist",
  },
  WEBHOOK_ALLOW_PRIVATE: {
    kind: flag,
    default: "false",
    about:
      "whether [webhooks](webhooks.md#for-operators) may go to `http:`, to any port and to " +
      "addresses that are not public; only where you trust all customers with your network",
  },
  LOG_LEVEL: {
    kind: choice(["trace", "debug", "info", "warn", "error", "fatal", "silent"]),
    default: "info",
    about: "the least severe lines that are logged",
  },
  JOURNAL_KEEP_SECONDS: {
    kind: seconds(0, 86_400),
    default: "120",
    about: "how long journal entries that Postgres has stay in Redis",
  },
  BUN_CONFIG_MAX_HTTP_REQUESTS: {
    kind: whole(0, 65_336),
    default: "256",
    shown: "20000 by `farebox` and the image, else 256",
    about:
      "upstream requests that run at once through a proxy (`HTTP_PROXY`, `HTTPS_PROXY`), all " +
      "upstreams together; the rest wait, so set it high",
  },
  LOG_KEEP_MONTHS: {
    kind: whole(0, 1_200),
    default: "0",
    shown: "0, which keeps all",
    about:
      "how many whole months of the [request log](operating.md#the-request-log) are kept besides " +
      "this one",
  },
  RUN_KEEP_DAYS: {
    kind: whole(1, 3_650),
    default: "90",
    about:
      "how many days a [run](runs.md#for-operators) is kept after its end; its id is free again " +
      "then",
  },
  WALLET_IDLE_SECONDS: {
    kind: seconds(0, 31_536_000),
    default: "86400",
    about: "how long an account must be unused for its wallet to leave Redis",
  },
  DOCS_TRY_IT: {
    kind: flag,
    default: "false",
    about:
      "whether the page at `/docs/api` has forms that send requests with a key typed into them",
  },
  FREE_PLAN_ALLOWANCE_USD: {
    kind: amount,
    default: toDecimal(FREE_PLAN_ALLOWANCE),
    about:
      "what the Free plan of the [Application API](application.md) grants a month; 0 grants none",
  },
} as const satisfies Variables;

/** The variables that only `npm start`, `npm test` and the CLI read. */
export const LAUNCHER_VARIABLES = {
  FAREBOX_API_KEY: {
    kind: apiKey,
    isSecret: true,
    about: "the API key that [`farebox quote`](spending.md#ask-for-the-price) asks with",
  },
  FAREBOX_HOME: {
    kind: anyText,
    default: ".farebox",
    about: "the folder of the private stores, data files, secrets, logs and `demo.json`",
  },
  FAREBOX_REDIS_MEMORY: {
    kind: anyText,
    default: "70%",
    about:
      "the [limit of the private Redis](operating.md#memory-of-redis): a part of the memory, or " +
      "an amount such as `4gb`",
  },
  FAREBOX_LOGS: {
    kind: anyText,
    about: "`1` shows the logs in the terminal, as `npm start -- --logs` does",
  },
  FAREBOX_LONG: {
    kind: anyText,
    about: "`1` makes `npm test` run the long suites too",
  },
  FAREBOX_SCREENSHOTS: {
    kind: anyText,
    about: "`1` makes `npm test` keep pictures of the pages in `.farebox/screenshots`",
  },
} as const satisfies Variables;
