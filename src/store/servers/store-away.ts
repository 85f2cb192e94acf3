// Explains in words that a store is away, and names the settings to check.

import { REDIS_REFUSALS } from "../../core/redis-refusals.ts";
import { StartError } from "../../core/start-error.ts";
import { rootOf } from "../../core/text/error-message.ts";
import { redisFault, refusesLogin } from "./redis-errors.ts";
import { codeOf, isAnswered, isUnavailable } from "./sql-errors.ts";

/** A store that is away. The words are for the operator. */
export interface StoreAway {
  readonly store: "redis" | "postgres";
  readonly words: string;
}

const REDIS_WORDS = {
  ...REDIS_REFUSALS,
  unreachable: "Redis cannot be reached: check its address, user and password, and firewalls",
  late: "Redis does not answer in time",
} as const;
/** Logins and unknown databases: the address that was given names them. */
const WRONG_ADDRESS = /^(28|3D)/;
/** Too many connections, a shutdown or a start of the server. */
const NO_CONNECTION = /^(08|53300$|57P0)/;

/** Explains an unreachable store. Looks for the client's error in `cause`; null for any other. */
export function storeAway(error: unknown): StoreAway | null {
  const root = rootOf(error);
  if (!(root instanceof Error)) return null;
  const redis = redisWords(root);
  if (redis !== null) return { store: "redis", words: redis };
  const postgres = postgresWords(root);
  return postgres === null ? null : { store: "postgres", words: postgres };
}

/** @throws StartError where a store is away, in words */
export async function orStartError<Value>(opening: Promise<Value>): Promise<Value> {
  try {
    return await opening;
  } catch (cause) {
    const away = storeAway(cause);
    throw away === null ? cause : new StartError(away.words, { cause });
  }
}

/** The client's own words are about retries. */
function redisWords(error: Error): string | null {
  if (refusesLogin(error)) return `Redis refuses the user or the password: ${error.message}`;
  const fault = redisFault(error);
  return fault === null ? null : REDIS_WORDS[fault];
}

function postgresWords(error: Error): string | null {
  // The driver of Postgres adds the statement to each error; other clients have errors of sockets,
  // too.
  if (!("query" in error)) return null;
  const { message } = error;
  const code = codeOf(error);
  if (WRONG_ADDRESS.test(code)) {
    return `Postgres refuses the connection, check DATABASE_URL: ${message}`;
  }
  if (NO_CONNECTION.test(code)) return `Postgres takes no connection: ${message}`;
  if (isAnswered(error) || !isUnavailable(error)) return null;
  return `Postgres cannot be reached: check its address (DATABASE_URL) and firewalls (${message})`;
}
