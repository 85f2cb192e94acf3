// The only reader of the environment. Parsed once, checked, frozen; every fault names its variable.

import { allowlist } from "./core/access.ts";
import { FREE_PLAN_ALLOWANCE } from "./core/limits.ts";
import { type NanoUsd, usd } from "./core/money.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** What every program of Farebox needs to reach the stores. */
export interface StoreConfig {
  /** The money Redis: `redis://…`, or the seeds of a Redis Cluster, joined with commas. */
  readonly redisUrl: string;
  readonly databaseUrl: string;
  /** Keys the digests of API keys. */
  readonly keyPepper: string;
  /** Keys the hashes of client addresses. */
  readonly ipHashSecret: string;
}

export interface ServerConfig extends StoreConfig {
  readonly host: string;
  readonly port: number;
  /** Where /metrics listens; 0 takes any free port. */
  readonly metricsPort: number;
  /** The Redis of the job queues; the money Redis unless given. */
  readonly queueRedisUrl: string;
  readonly trustedProxies: readonly string[];
  /** The file of models and providers; unless it was asked for, it may be missing. */
  readonly catalogueFile: { readonly path: string; readonly required: boolean };
  readonly logLevel: string;
  /** How long flushed journal entries stay in Redis. */
  readonly journalKeepMs: number;
  /** How long a wallet must be unused to leave Redis. */
  readonly walletIdleMs: number;
  /** What the Free plan of the Application API grants each month. */
  readonly freePlanAllowance: NanoUsd;
  /** How many upstream requests Bun runs at once; more wait, whichever upstream they are for. */
  readonly outgoingRequestsMax: number;
  /** The environment that a catalogue's `api_key_env` names are looked up in. */
  readonly environment: Environment;
}

const SECRET_LENGTH_MIN = 16;
const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];
const CATALOGUE_FILE = "farebox.config.json";

/** Thrown for a variable that is missing or wrong; the message is for the operator. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** What the CLI and the setup need. */
export function loadStoreConfig(env: Environment = process.env): StoreConfig {
  return Object.freeze({
    redisUrl: required(env, "REDIS_URL"),
    databaseUrl: required(env, "DATABASE_URL"),
    keyPepper: secret(env, "KEY_PEPPER"),
    ipHashSecret: secret(env, "IP_HASH_SECRET"),
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
    metricsPort: whole(env, "METRICS_PORT", metricsPort, 65_535),
    queueRedisUrl: env.QUEUE_REDIS_URL || stores.redisUrl,
    trustedProxies: addresses(env, "TRUSTED_PROXIES"),
    catalogueFile: Object.freeze({
      path: env.FAREBOX_CONFIG || CATALOGUE_FILE,
      required: Boolean(env.FAREBOX_CONFIG),
    }),
    logLevel: oneOf(env, "LOG_LEVEL", "info", LOG_LEVELS),
    journalKeepMs: whole(env, "JOURNAL_KEEP_SECONDS", 120, 86_400) * 1000,
    walletIdleMs: whole(env, "WALLET_IDLE_SECONDS", 86_400, 31_536_000) * 1000,
    freePlanAllowance: amount(env, "FREE_PLAN_ALLOWANCE_USD", FREE_PLAN_ALLOWANCE),
    outgoingRequestsMax: whole(env, "BUN_CONFIG_MAX_HTTP_REQUESTS", 256, 65_336),
    environment: env,
  });
}

function required(env: Environment, name: string): string {
  const value = env[name];
  if (!value) throw new ConfigError(`${name} is not set; \`npm start\` sets it`);
  return value;
}

function secret(env: Environment, name: string): string {
  const value = required(env, name);
  if (value.length < SECRET_LENGTH_MIN) {
    throw new ConfigError(`${name} must have at least ${SECRET_LENGTH_MIN} characters`);
  }
  return value;
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
