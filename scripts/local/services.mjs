// Provides the two stores of Farebox: given ones, or private ones in a home.

import { startPostgres } from "./postgres.mjs";
import { startRedis } from "./redis.mjs";

/**
 * @typedef {object} Stores
 * @property {string} redisUrl over the Unix socket of a Redis that was started here, if it has one
 * @property {string} redisPortUrl the same Redis by its port
 * @property {string} databaseUrl
 * @property {Started[]} started those that were started here
 * @property {() => Promise<void>} stop
 *
 * @typedef {object} Started
 * @property {string} name
 * @property {Child} child
 * @property {() => Promise<Child>} restart on the same port and data, repaired as at each start
 *
 * @typedef {import("./processes.mjs").Child} Child
 * @typedef {import("./redis.mjs").Service} Service
 */

/**
 * Starts the stores that are not given. If one fails, the other is stopped.
 * @param {object} options
 * @param {string} options.home
 * @param {string} [options.redisUrl]
 * @param {string} [options.databaseUrl]
 * @param {boolean} [options.durable] true if Postgres survives a crash; by default true
 * @param {(line: string) => void} [options.progress]
 * @returns {Promise<Stores>}
 */
export async function startStores(options) {
  const { home, progress = () => {}, durable = true } = options;
  /** @param {number} [port] */
  const redisOn = (port) => startRedis({ home, progress, ...(port && { port }) });
  /** @param {number} [port] */
  const postgresOn = (port) => startPostgres({ home, progress, durable, ...(port && { port }) });
  const [redis, postgres] = await Promise.allSettled([
    options.redisUrl ? null : redisOn(),
    options.databaseUrl ? null : postgresOn(),
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
  const redisPortUrl = redis.value?.url ?? options.redisUrl ?? "";
  return {
    redisUrl: redis.value?.socketUrl ?? redisPortUrl,
    redisPortUrl,
    databaseUrl: postgres.value?.url ?? options.databaseUrl ?? "",
    started: [
      ...(redis.value === null ? [] : [startedOf(redis.value, redisOn)]),
      ...(postgres.value === null ? [] : [startedOf(postgres.value, postgresOn)]),
    ],
    stop,
  };
}

/**
 * @param {Service} service
 * @param {(port: number) => Promise<Service>} startOn
 * @returns {Started}
 */
function startedOf({ child, port }, startOn) {
  return { name: child.name, child, restart: async () => (await startOn(port)).child };
}
