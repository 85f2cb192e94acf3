// The two stores that Farebox stands on: given ones, or private ones below a home.

import { startPostgres } from "./postgres.mjs";
import { startRedis } from "./redis.mjs";

/**
 * @typedef {object} Stores
 * @property {string} redisUrl
 * @property {string} databaseUrl
 * @property {import("./processes.mjs").Child[]} children those that were started here
 * @property {() => Promise<void>} stop
 */

/**
 * Starts whichever of the two is not given. When one fails, neither runs on.
 * @param {object} options
 * @param {string} options.home
 * @param {string} [options.redisUrl]
 * @param {string} [options.databaseUrl]
 * @param {boolean} [options.durable] whether Postgres survives a crash; true unless told
 * @param {(line: string) => void} [options.progress]
 * @returns {Promise<Stores>}
 */
export async function startStores(options) {
  const { home, progress = () => {}, durable = true } = options;
  const [redis, postgres] = await Promise.allSettled([
    options.redisUrl ? null : startRedis({ home, progress }),
    options.databaseUrl ? null : startPostgres({ home, progress, durable }),
  ]);
  const started = [redis, postgres].flatMap((result) => {
    return result.status === "fulfilled" && result.value !== null ? [result.value] : [];
  });
  const stop = async () => {
    await Promise.all(started.map((service) => service.stop()));
  };
  if (redis.status === "rejected" || postgres.status === "rejected") {
    await stop();
    throw redis.status === "rejected"
      ? redis.reason
      : postgres.status === "rejected" && postgres.reason;
  }
  return {
    redisUrl: redis.value?.url ?? options.redisUrl ?? "",
    databaseUrl: postgres.value?.url ?? options.databaseUrl ?? "",
    children: started.map((service) => service.child),
    stop,
  };
}
