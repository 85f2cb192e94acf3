// The only reader of the environment. Parsed once, checked, frozen; every fault names its variable.

import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { allowlist } from "../core/access.ts";
import { FREE_PLAN_ALLOWANCE } from "../core/limits.ts";
import { asciiDomain } from "../core/mail-address.ts";
import { type NanoUsd, usd } from "../core/money.ts";
import type { SecretList, SecretName, Secrets } from "../core/secrets.ts";
import { type PaymentConfig, readPaymentConfig } from "../payments/payment-config.ts";
import { parseRelay, type SmtpRelay } from "../services/mail/smtp-relay.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** What every program of Farebox needs to reach the stores and the data files. */
export interface StoreConfig {
  /** The money Redis: `redis://…`, or the seeds of a Redis Cluster, joined with commas. */
  readonly redisUrl: string;
  readonly databaseUrl: string;
  readonly secrets: Secrets;
  /** The folder of the files that are made from data: indexes of search and maps. */
  readonly dataDirectory: string;
}

export interface ServerConfig extends StoreConfig {
  readonly host: string;
  readonly port: number;
  readonly metrics: MetricsConfig;
  /** The Redis of the job queues; the money Redis unless given. */
  readonly queueRedisUrl: string;
  readonly trustedProxies: readonly string[];
  /** The file of models and providers; unless it was asked for, it may be missing. */
  readonly catalogueFile: { readonly path: string; readonly required: boolean };
  readonly mail: MailConfig;
  /** Null: there are no top-ups. */
  readonly payments: PaymentConfig | null;
  readonly logLevel: string;
  /** How long flushed journal entries stay in Redis. */
  readonly journalKeepMs: number;
  /** How many whole months of the request log are kept besides this one; 0 keeps all. */
  readonly logKeepMonths: number;
  /** How long a wallet must be unused to leave Redis. */
  readonly walletIdleMs: number;
  /** What the Free plan of the Application API grants each month. */
  readonly freePlanAllowance: NanoUsd;
  /** How many upstream requests Bun runs at once; more wait, whichever upstream they are for. */
  readonly outgoingRequestsMax: number;
  /** Whether the page at /docs has forms that send requests. */
  readonly docsTryIt: boolean;
  /** The environment that a catalogue's `api_key_env` names are looked up in. */
  readonly environment: Environment;
}

/** Where /metrics listens; port 0 is any free one. */
export interface MetricsConfig {
  readonly host: string;
  readonly port: number;
  /** Whether METRICS_PORT said so: then no other port will do. */
  readonly isNamed: boolean;
}

export interface MailConfig {
  /** The domain that all mail is sent from. */
  readonly domain: string;
  /** The service as recipients read it. */
  readonly service: string;
  /** Null: mail goes into a sink on this machine and is delivered nowhere. */
  readonly relay: SmtpRelay | null;
  readonly connections: number;
  /** How long a request waits for the mail server before it is told `queued`. */
  readonly waitMs: number;
  readonly dkim: { readonly selector: string; readonly privateKey: string } | null;
  /** Where bounces are listened for; null: nowhere. */
  readonly bounces: {
    readonly domain: string;
    readonly host: string;
    readonly port: number;
  } | null;
}

/** A domain that no mail can reach: where nothing is configured, nothing is delivered. */
const NO_DOMAIN = "farebox.invalid";

const SECRET_LENGTH_MIN = 16;
const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];
const CATALOGUE_FILE = "farebox.config.json";
const DATA_DIRECTORY = join(import.meta.dir, "../../.farebox/data");

/** Thrown for a variable that is missing or wrong; the message is for the operator. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** Where files are that are built from data which ships. */
export function loadDataDirectory(env: Environment = process.env): string {
  return resolve(env.FAREBOX_DATA || DATA_DIRECTORY);
}

/** What the CLI and the setup need. */
export function loadStoreConfig(env: Environment = process.env): StoreConfig {
  return Object.freeze({
    redisUrl: required(env, "REDIS_URL"),
    databaseUrl: required(env, "DATABASE_URL"),
    secrets: Object.freeze({
      KEY_PEPPER: secretList(env, "KEY_PEPPER"),
      IP_HASH_SECRET: secretList(env, "IP_HASH_SECRET"),
    }),
    dataDirectory: loadDataDirectory(env),
  });
}

/** What the API and the workers need. `metricsPort` is what METRICS_PORT defaults to. */
export function loadServerConfig(
  metricsPort: number,
  env: Environment = process.env,
): ServerConfig {
  const stores = loadStoreConfig(env);
  return Object.freeze({
    ...stores,
    host: env.HOST || "127.0.0.1",
    port: whole(env, "PORT", 8080, 65_535),
    metrics: Object.freeze({
      host: env.METRICS_HOST || "127.0.0.1",
      port: whole(env, "METRICS_PORT", metricsPort, 65_535),
      isNamed: Boolean(env.METRICS_PORT),
    }),
    queueRedisUrl: env.QUEUE_REDIS_URL || stores.redisUrl,
    trustedProxies: addresses(env, "TRUSTED_PROXIES"),
    catalogueFile: Object.freeze({
      path: env.FAREBOX_CONFIG || CATALOGUE_FILE,
      required: Boolean(env.FAREBOX_CONFIG),
    }),
    mail: loadMailConfig(env),
    payments: loadPaymentConfig(env),
    logLevel: oneOf(env, "LOG_LEVEL", "info", LOG_LEVELS),
    journalKeepMs: whole(env, "JOURNAL_KEEP_SECONDS", 120, 86_400) * 1000,
    logKeepMonths: whole(env, "LOG_KEEP_MONTHS", 0, 1_200),
    walletIdleMs: whole(env, "WALLET_IDLE_SECONDS", 86_400, 31_536_000) * 1000,
    freePlanAllowance: amount(env, "FREE_PLAN_ALLOWANCE_USD", FREE_PLAN_ALLOWANCE),
    outgoingRequestsMax: whole(env, "BUN_CONFIG_MAX_HTTP_REQUESTS", 256, 65_336),
    docsTryIt: oneOf(env, "DOCS_TRY_IT", "false", ["true", "false"]) === "true",
    environment: env,
  });
}

/** What sending mail needs. */
export function loadMailConfig(env: Environment = process.env): MailConfig {
  const domain = domainOf(env, "MAIL_DOMAIN") ?? NO_DOMAIN;
  const url = env.MAIL_SMTP_URL || null;
  const timeoutMs = whole(env, "MAIL_TIMEOUT_SECONDS", 20, 600) * 1000 || 1_000;
  const relay = url === null ? null : relayOf(url, { name: domain, timeoutMs });
  if (relay !== null && domain === NO_DOMAIN) {
    throw new ConfigError("MAIL_DOMAIN is not set; MAIL_SMTP_URL needs it");
  }
  const bouncePort = whole(env, "MAIL_BOUNCE_PORT", 0, 65_535);
  return Object.freeze({
    domain,
    service: env.MAIL_SERVICE_NAME || "Farebox",
    relay,
    connections: whole(env, "MAIL_CONNECTIONS", 10, 1_000) || 1,
    waitMs: whole(env, "MAIL_WAIT_SECONDS", 10, 60) * 1000,
    dkim: dkimOf(env),
    bounces:
      bouncePort === 0
        ? null
        : {
            domain: domainOf(env, "MAIL_BOUNCE_DOMAIN") ?? domain,
            host: env.MAIL_BOUNCE_HOST || "127.0.0.1",
            port: bouncePort,
          },
  });
}

/** What top-ups need; null where no payment provider is configured. */
export function loadPaymentConfig(env: Environment = process.env): PaymentConfig | null {
  try {
    return readPaymentConfig(env);
  } catch (error) {
    throw error instanceof RangeError ? new ConfigError(error.message) : error;
  }
}

function domainOf(env: Environment, name: string): string | null {
  const text = env[name];
  if (!text) return null;
  const domain = asciiDomain(text);
  if (domain === null) throw new ConfigError(`${name} must be a domain, but is '${text}'`);
  return domain;
}

/** The value is not repeated: it may hold a password. */
function relayOf(url: string, own: Pick<SmtpRelay, "name" | "timeoutMs">): SmtpRelay {
  try {
    return parseRelay(url, own);
  } catch (error) {
    throw new ConfigError(`MAIL_SMTP_URL ${error instanceof Error ? error.message : error}`);
  }
}

function dkimOf(env: Environment): MailConfig["dkim"] {
  const { MAIL_DKIM_KEY_FILE: file, MAIL_DKIM_SELECTOR: selector } = env;
  if (!file && !selector) return null;
  if (!file) throw new ConfigError("MAIL_DKIM_KEY_FILE is not set; MAIL_DKIM_SELECTOR needs it");
  if (!selector || !/^[A-Za-z0-9-]{1,63}$/.test(selector)) {
    throw new ConfigError("MAIL_DKIM_SELECTOR must be letters, digits and '-', such as 'mail2026'");
  }
  let privateKey: string;
  try {
    privateKey = readFileSync(file, "utf8");
  } catch {
    throw new ConfigError(`MAIL_DKIM_KEY_FILE names '${file}', which cannot be read`);
  }
  if (!privateKey.includes("PRIVATE KEY-----")) {
    throw new ConfigError("MAIL_DKIM_KEY_FILE must hold a private key as PEM");
  }
  return { selector, privateKey };
}

function required(env: Environment, name: string): string {
  const value = env[name];
  if (!value) throw new ConfigError(`${name} is not set; \`npm start\` sets it`);
  return value;
}

/** Secrets are joined with commas, the current one first. */
function secretList(env: Environment, name: SecretName): SecretList {
  const [current = "", ...previous] = required(env, name).split(",");
  if ([current, ...previous].some((value) => value.length < SECRET_LENGTH_MIN)) {
    const each = previous.length > 0 ? "each secret of " : "";
    throw new ConfigError(`${each}${name} must have at least ${SECRET_LENGTH_MIN} characters`);
  }
  return Object.freeze([current, ...previous] as const);
}

function whole(env: Environment, name: string, fallback: number, max: number): number {
  const text = env[name];
  if (!text) return fallback;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > max) {
    throw new ConfigError(`${name} must be a whole number from 0 to ${max}, but is '${text}'`);
  }
  return value;
}

function amount(env: Environment, name: string, fallback: NanoUsd): NanoUsd {
  const text = env[name];
  if (!text) return fallback;
  try {
    const value = usd(text);
    if (value >= 0n) return value;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw new ConfigError(`${name} must be an amount of USD such as 1.50, but is '${text}'`);
}

function oneOf(env: Environment, name: string, fallback: string, values: readonly string[]) {
  const value = env[name] || fallback;
  if (values.includes(value)) return value;
  throw new ConfigError(`${name} must be one of ${values.join(", ")}, but is '${value}'`);
}

function addresses(env: Environment, name: string): readonly string[] {
  const list = (env[name] ?? "").split(",").map((entry) => entry.trim());
  const entries = list.filter((entry) => entry !== "");
  try {
    allowlist(entries);
  } catch (error) {
    throw new ConfigError(`${name}: ${error instanceof Error ? error.message : error}`);
  }
  return Object.freeze(entries);
}
