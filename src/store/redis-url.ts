// What REDIS_URL can say: one server, the seeds of a Redis Cluster, or the Sentinels of a master.
// TLS, user, password and CA count for every form.

import { readFileSync } from "node:fs";

/** The URL of a Redis is wrong; the message is for the operator and holds no password. */
export class WrongRedisUrl extends Error {
  override readonly name = "WrongRedisUrl";
}

export interface RedisHost {
  readonly host: string;
  readonly port: number;
}

/** How a server is spoken to. */
export interface RedisAccess {
  readonly username?: string;
  readonly password?: string;
  /** Present for TLS; `ca` where other authorities than the system's are trusted. */
  readonly tls?: { readonly ca?: string };
}

export interface RedisServer {
  readonly kind: "server";
  /** Without what only Farebox reads. */
  readonly url: string;
  readonly tls: RedisAccess["tls"];
}

export interface RedisCluster {
  readonly kind: "cluster";
  readonly seeds: readonly RedisHost[];
  readonly access: RedisAccess;
}

export interface RedisSentinels {
  readonly kind: "sentinel";
  readonly sentinels: readonly RedisHost[];
  /** What the Sentinels call the master. */
  readonly master: string;
  readonly database: number;
  readonly access: RedisAccess;
  /** Sentinels are often open where their master is not. */
  readonly sentinelLogin: Pick<RedisAccess, "username" | "password">;
}

const REDIS_PORT = 6379;
const SENTINEL_PORT = 26_379;
const SENTINEL = /^(rediss?)\+sentinel:\/\/(?:([^@/]*)@)?([^/?]+)\/([^/?]+)(?:\/(\d+))?(\?.*)?$/;

/** @throws WrongRedisUrl */
export function parseRedisUrl(url: string): RedisServer | RedisCluster | RedisSentinels {
  if (/^rediss?\+sentinel:/.test(url)) return parseSentinels(url);
  if (url.includes(",") || /^rediss?\+cluster:/.test(url)) return parseCluster(url);
  if (!url.startsWith("rediss:")) return { kind: "server", url, tls: undefined };
  const server = parsed(url);
  const { tls } = accessOf(server);
  server.searchParams.delete("ca");
  return { kind: "server", url: server.href, tls };
}

function parseCluster(url: string): RedisCluster {
  const seeds = url.split(",").map((seed) => parsed(seed.replace("+cluster:", ":")));
  const [first] = seeds;
  if (first === undefined) throw new WrongRedisUrl("The URL of a Redis Cluster has no seed");
  if (seeds.some(({ protocol }) => protocol !== first.protocol)) {
    throw new WrongRedisUrl("All seeds of a Redis Cluster must begin with redis:, or all rediss:");
  }
  // Seeds after the first may leave out what is the same for all.
  const names = ["username", "password"] as const;
  for (const seed of seeds) {
    if (names.some((name) => seed[name] !== "" && seed[name] !== first[name])) {
      throw new WrongRedisUrl("All seeds of a Redis Cluster must have the same user and password");
    }
  }
  return {
    kind: "cluster",
    seeds: seeds.map((seed) => hostOf(seed, REDIS_PORT)),
    access: accessOf(first),
  };
}

/** `rediss+sentinel://user:password@one:26379,two:26379/master`, with a database after it. */
function parseSentinels(url: string): RedisSentinels {
  const [, protocol, user = "", hosts = "", master = "", database, query = ""] =
    SENTINEL.exec(url) ?? [];
  if (protocol === undefined) {
    throw new WrongRedisUrl(
      "The URL of Redis Sentinel must be like redis+sentinel://host:26379,host:26379/master",
    );
  }
  const sentinels = hosts.split(",").map((host) => parsed(`${protocol}://${host}`));
  const login = user === "" ? "" : `${user}@`;
  const rest = parsed(`${protocol}://${login}host${query}`);
  const sentinelUser = rest.searchParams.get("sentinel-user");
  const sentinelPassword = rest.searchParams.get("sentinel-password");
  return {
    kind: "sentinel",
    sentinels: sentinels.map((sentinel) => hostOf(sentinel, SENTINEL_PORT)),
    master: decodeURIComponent(master),
    database: Number(database ?? 0),
    access: accessOf(rest),
    sentinelLogin: {
      ...(sentinelUser !== null && { username: sentinelUser }),
      ...(sentinelPassword !== null && { password: sentinelPassword }),
    },
  };
}

function parsed(url: string): URL {
  try {
    return new URL(url);
  } catch {
    throw new WrongRedisUrl("The URL of Redis cannot be read; it must be like redis://host:6379");
  }
}

function hostOf({ hostname, port }: URL, fallback: number): RedisHost {
  return { host: hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(port || fallback) };
}

function accessOf({ protocol, username, password, searchParams }: URL): RedisAccess {
  const caFile = searchParams.get("ca");
  if (caFile !== null && protocol !== "rediss:") {
    throw new WrongRedisUrl("The URL of Redis has ?ca= and no TLS: it must begin with rediss:");
  }
  return {
    ...(username !== "" && { username: decodeURIComponent(username) }),
    ...(password !== "" && { password: decodeURIComponent(password) }),
    ...(protocol === "rediss:" && { tls: caFile === null ? {} : { ca: readCa(caFile) } }),
  };
}

function readCa(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new WrongRedisUrl(`The URL of Redis names the CA file '${file}', which cannot be read`, {
      cause,
    });
  }
}
