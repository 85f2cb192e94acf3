// Reads the environment, as the only reader: once, checked by the table of variables, frozen.

import { join, resolve } from "node:path";
import { safetyIdSecretsOf } from "../core/access/safety-ids.ts";
import type { NanoUsd, PicoUsd } from "../core/money/money.ts";
import { movesMoney } from "../core/money/payment-names.ts";
import { receiptSecretsOf } from "../core/receipts/receipt-keys.ts";
import type { SecretList, Secrets } from "../core/secrets.ts";
import { type PaymentConfig, paymentConfigOf } from "../payments/payment-config.ts";
import { PROVIDERS } from "../payments/providers.ts";
import type { SmtpRelay } from "../services/mail/smtp-relay.ts";
import { type ConsoleConfig, consoleConfigOf } from "./console-config.ts";
import { CONSOLE_VARIABLES } from "./console-variables.ts";
import { ConfigError, type Environment, readVariables, type Values } from "./environment.ts";
import { PAYMENT_VARIABLES } from "./payment-variables.ts";
import { ALL_VARIABLES } from "./server-variables.ts";
import { requireThisMachine, warningsOf } from "./this-machine.ts";
import { type TraceConfig, traceConfigOf } from "./trace-variables.ts";
import {
  DATA_VARIABLES,
  LAUNCHER_VARIABLES,
  MAIL_VARIABLES,
  SERVER_VARIABLES,
  STORE_VARIABLES,
} from "./variables.ts";

/** The settings that every program of Farebox needs to reach the stores and the data files. */
export interface StoreConfig {
  /** The money Redis: `redis://…`, or the seeds of a Redis Cluster, joined with commas. */
  readonly redisUrl: string;
  readonly databaseUrl: string;
  /** The same Postgres without the pooler that `databaseUrl` leads to; null without a pooler. */
  readonly directDatabaseUrl: string | null;
  readonly secrets: Secrets;
  /** The secrets of the identifiers that providers get, the current one first. */
  readonly safetyIdSecrets: SecretList;
  readonly receiptSecrets: SecretList;
  /** The folder of files that are built from data: indexes of search and maps. */
  readonly dataDirectory: string;
}

export interface ServerConfig extends StoreConfig {
  readonly host: string;
  readonly port: number;
  /** True if other API processes may listen on the port. */
  readonly sharesPort: boolean;
  readonly metrics: MetricsConfig;
  /**
   * After a signal to stop, the API still takes requests for `noticeMs`, and open calls go on for
   * `callsMs`.
   */
  readonly drain: { readonly noticeMs: number; readonly callsMs: number };
  /** The Redis of the job queues; the money Redis unless given. */
  readonly queueRedisUrl: string;
  readonly trustedProxies: readonly string[];
  /** The file of models and providers; it may be missing unless `required`. */
  readonly catalogueFile: { readonly path: string; readonly required: boolean };
  readonly mail: MailConfig;
  /** Null: top-ups are off. */
  readonly payments: PaymentConfig | null;
  /** True if webhooks may go to `http:`, any port and addresses that are not public. */
  readonly webhooksAllowPrivate: boolean;
  /** Names of hosts under which `/mcp` is served, besides those of this machine. */
  readonly mcpHosts: readonly string[];
  /** Null: the process serves no console. */
  readonly console: ConsoleConfig | null;
  /** Warnings about these settings for the operator, in words. */
  readonly warnings: readonly string[];
  readonly logLevel: string;
  /** Null: traces are off. */
  readonly traces: TraceConfig | null;
  /** Flushed journal entries stay in Redis for this long. */
  readonly journalKeepMs: number;
  /** The number of whole months of the request log that are kept besides this one; 0 keeps all. */
  readonly logKeepMonths: number;
  /** The days that a run is kept after its end. */
  readonly runKeepDays: number;
  /** A wallet leaves Redis after it was unused for this long. */
  readonly walletIdleMs: number;
  /** The monthly allowance of the Free plan of the Application API. */
  readonly freePlanAllowance: NanoUsd;
  /**
   * The number of upstream requests that run at once through a proxy; further ones wait, of any
   * service.
   */
  readonly outgoingRequestsMax: number;
  /** True if requests to upstream servers go through a proxy, by the variables that Bun reads. */
  readonly usesProxy: boolean;
  /** True if the page at /docs/api has forms that send requests. */
  readonly docsTryIt: boolean;
  /** The environment that a catalogue's `api_key_env` names are looked up in. */
  readonly environment: Environment;
}

/** The variables by which Bun's `fetch` finds a proxy. */
const PROXY_VARIABLES = ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"] as const;

/** The address of /metrics; port 0 is any free port. */
export interface MetricsConfig {
  readonly host: string;
  readonly port: number;
  /** True if METRICS_PORT named the port: then no other port will do. */
  readonly isNamed: boolean;
}

export interface MailConfig {
  /** The domain that all mail is sent from. */
  readonly domain: string;
  /** Null: mail goes into a sink on this machine and is delivered nowhere. */
  readonly relay: SmtpRelay | null;
  readonly connections: number;
  /** A request waits this long for the mail server before it is answered with `queued`. */
  readonly waitMs: number;
  readonly dkim: { readonly selector: string; readonly privateKey: string } | null;
  /** The operator's cost of one accepted recipient; null if that is not known. */
  readonly buying: PicoUsd | null;
  /** The address at which bounces are received; null: none are. */
  readonly bounces: {
    readonly domain: string;
    readonly host: string;
    readonly port: number;
  } | null;
}

const CATALOGUE_FILE = "farebox.config.json";
const DATA_DIRECTORY = join(import.meta.dir, "../../.farebox/data");

/** Returns the folder of files that are built from data which ships with Farebox. */
export function loadDataDirectory(env: Environment = process.env): string {
  return dataDirectoryOf(readVariables(DATA_VARIABLES, env));
}

/** The environment of the process, unless another one is given. */
export function loadEnvironment(env: Environment = process.env): Environment {
  return env;
}

/** Reads the settings of the CLI and the setup. */
export function loadStoreConfig(env: Environment = process.env): StoreConfig {
  return Object.freeze(storesOf(readVariables(STORE_VARIABLES, env)));
}

/** Reads the settings of the API and the workers. `metricsPort` is the default of METRICS_PORT. */
export function loadServerConfig(
  metricsPort: number,
  env: Environment = process.env,
): ServerConfig {
  const values = readVariables(ALL_VARIABLES, env);
  const payments = paymentsOf(values);
  if (payments !== null && !movesMoney(payments.name)) {
    const { secretKey } = PROVIDERS[payments.kind].variables;
    requireThisMachine(values, `${secretKey} is a key of the sandbox`);
  }
  const console = consoleConfigOf(values);
  return Object.freeze({
    ...storesOf(values),
    host: values.HOST,
    port: values.PORT,
    sharesPort: values.PORT_SHARED,
    metrics: Object.freeze({
      host: values.METRICS_HOST,
      port: values.METRICS_PORT ?? metricsPort,
      isNamed: values.METRICS_PORT !== null,
    }),
    drain: Object.freeze({
      noticeMs: values.DRAIN_NOTICE_SECONDS,
      callsMs: values.DRAIN_SECONDS,
    }),
    queueRedisUrl: values.QUEUE_REDIS_URL ?? values.REDIS_URL,
    trustedProxies: values.TRUSTED_PROXIES,
    catalogueFile: catalogueFileOf(values.FAREBOX_CONFIG),
    mail: mailOf(values),
    payments,
    webhooksAllowPrivate: values.WEBHOOK_ALLOW_PRIVATE,
    mcpHosts: mcpHostsOf(values.MCP_HOSTS, console),
    console,
    warnings: warningsOf({ console, payments }, env),
    logLevel: values.LOG_LEVEL,
    traces: traceConfigOf(values),
    journalKeepMs: values.JOURNAL_KEEP_SECONDS,
    logKeepMonths: values.LOG_KEEP_MONTHS,
    runKeepDays: values.RUN_KEEP_DAYS,
    walletIdleMs: values.WALLET_IDLE_SECONDS,
    freePlanAllowance: values.FREE_PLAN_ALLOWANCE_USD,
    outgoingRequestsMax: values.BUN_CONFIG_MAX_HTTP_REQUESTS,
    usesProxy: PROXY_VARIABLES.some((name) => (env[name] ?? "") !== ""),
    docsTryIt: values.DOCS_TRY_IT,
    environment: env,
  });
}

function mcpHostsOf(named: readonly string[], console: ConsoleConfig | null): readonly string[] {
  const origin = console?.configuredOrigin ?? null;
  return Object.freeze(origin === null ? named : [...named, new URL(origin).hostname]);
}

/** Reads where the configuration file is. */
export function loadCatalogueFile(env: Environment = process.env): ServerConfig["catalogueFile"] {
  const { FAREBOX_CONFIG } = SERVER_VARIABLES;
  return catalogueFileOf(readVariables({ FAREBOX_CONFIG }, env).FAREBOX_CONFIG);
}

function catalogueFileOf(named: string | null): ServerConfig["catalogueFile"] {
  return Object.freeze({ path: named ?? CATALOGUE_FILE, required: named !== null });
}

/** Reads the settings of sending mail. */
export function loadMailConfig(env: Environment = process.env): MailConfig {
  return mailOf(readVariables(MAIL_VARIABLES, env));
}

/** Returns the Redis of the job queues; null if it is the money Redis. */
export function loadQueueRedisUrl(env: Environment = process.env): string | null {
  const { QUEUE_REDIS_URL } = SERVER_VARIABLES;
  return readVariables({ QUEUE_REDIS_URL }, env).QUEUE_REDIS_URL;
}

/** Returns the origin where people open the dashboard; null if it is not set. */
export function loadConsoleOrigin(env: Environment = process.env): string | null {
  const { CONSOLE_URL } = CONSOLE_VARIABLES;
  return readVariables({ CONSOLE_URL }, env).CONSOLE_URL?.origin ?? null;
}

/** Returns the API key of a command that asks a service as a caller does; null if it is not set. */
export function loadCallerKey(env: Environment = process.env): string | null {
  const { FAREBOX_API_KEY } = LAUNCHER_VARIABLES;
  return readVariables({ FAREBOX_API_KEY }, env).FAREBOX_API_KEY;
}

function dataDirectoryOf({ FAREBOX_DATA }: Values<typeof DATA_VARIABLES>): string {
  return resolve(FAREBOX_DATA ?? DATA_DIRECTORY);
}

function storesOf(values: Values<typeof STORE_VARIABLES>): StoreConfig {
  const { KEY_PEPPER, IP_HASH_SECRET } = values;
  return {
    redisUrl: values.REDIS_URL,
    databaseUrl: values.DATABASE_URL,
    directDatabaseUrl: directUrlOf(values),
    secrets: Object.freeze({ KEY_PEPPER, IP_HASH_SECRET }),
    safetyIdSecrets: safetyIdSecretsOf(values.SAFETY_ID_SECRET, KEY_PEPPER),
    receiptSecrets: receiptSecretsOf(values.RECEIPT_SECRET, KEY_PEPPER),
    dataDirectory: dataDirectoryOf(values),
  };
}

function directUrlOf(values: Values<typeof STORE_VARIABLES>): string | null {
  const { DATABASE_POOLER: pooler, DATABASE_DIRECT_URL: url } = values;
  if (pooler === "none" && url !== null) {
    throw new ConfigError("DATABASE_DIRECT_URL is set; it needs DATABASE_POOLER=transaction");
  }
  if (pooler !== "none" && url === null) {
    throw new ConfigError("DATABASE_DIRECT_URL is not set; DATABASE_POOLER needs it");
  }
  return url;
}

function mailOf(values: Values<typeof MAIL_VARIABLES>): MailConfig {
  const { MAIL_DOMAIN: domain, MAIL_SMTP_URL: relay } = values;
  if (relay !== null && domain === MAIL_VARIABLES.MAIL_DOMAIN.default) {
    throw new ConfigError("MAIL_DOMAIN is not set; MAIL_SMTP_URL needs it");
  }
  return Object.freeze({
    domain,
    relay: relay && { ...relay, name: domain, timeoutMs: values.MAIL_TIMEOUT_SECONDS },
    connections: values.MAIL_CONNECTIONS,
    waitMs: values.MAIL_WAIT_SECONDS,
    buying: values.MAIL_BUYING_USD_PER_K,
    dkim: dkimOf(values),
    bounces:
      values.MAIL_BOUNCE_PORT === 0
        ? null
        : {
            domain: values.MAIL_BOUNCE_DOMAIN ?? domain,
            host: values.MAIL_BOUNCE_HOST,
            port: values.MAIL_BOUNCE_PORT,
          },
  });
}

/** Reads the settings of top-ups; null if no payment provider is configured. */
export function loadPaymentConfig(env: Environment = process.env): PaymentConfig | null {
  return paymentsOf(readVariables(PAYMENT_VARIABLES, env));
}

function paymentsOf(values: Values<typeof PAYMENT_VARIABLES>): PaymentConfig | null {
  try {
    return paymentConfigOf({
      settingsOf: (kind) => {
        const { variables } = PROVIDERS[kind];
        return {
          secretKey: values[variables.secretKey],
          webhookSecrets: values[variables.webhookSecrets],
          returnUrl: values[variables.returnUrl],
          apiBase: values[variables.apiBase],
          automaticTax: values[variables.automaticTax],
          invoices: values[variables.invoices],
        };
      },
      terms: {
        fee: { basisPoints: values.TOP_UP_FEE_PERCENT, fixed: values.TOP_UP_FEE_USD },
        bonus: { basisPoints: values.TOP_UP_BONUS_PERCENT, max: values.TOP_UP_BONUS_MAX_USD },
      },
      plans: {
        starter: values.PLAN_STARTER_USD,
        pro: values.PLAN_PRO_USD,
        max: values.PLAN_MAX_USD,
      },
    });
  } catch (error) {
    throw error instanceof RangeError ? new ConfigError(error.message) : error;
  }
}

function dkimOf(values: Values<typeof MAIL_VARIABLES>): MailConfig["dkim"] {
  const { MAIL_DKIM_KEY: privateKey, MAIL_DKIM_SELECTOR: selector } = values;
  if (privateKey === null && selector === null) return null;
  if (privateKey === null) {
    throw new ConfigError("MAIL_DKIM_KEY_FILE is not set; MAIL_DKIM_SELECTOR needs it");
  }
  if (selector === null) {
    throw new ConfigError("MAIL_DKIM_SELECTOR is not set; MAIL_DKIM_KEY_FILE needs it");
  }
  return { selector, privateKey };
}
