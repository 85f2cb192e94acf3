// The forms of REDIS_URL: one server, the seeds of a Redis Cluster, or the Sentinels of a master.
// Every form can have TLS, a user, a password and a CA. One server on the same machine can be
// reached over a Unix socket instead, which has no TLS.

import { readFileSync } from "node:fs";
import { isRedisSocket, parseRedisSocket, type RedisSocket } from "../../core/redis-socket.ts";
import { StartError } from "../../core/start-error.ts";
import { textOfBytes } from "../../core/text/text-bytes.ts";

/** The URL of a Redis is invalid. The message is for the operator and contains no password. */
export class WrongRedisUrl extends StartError {
  override readonly name = "WrongRedisUrl";
}

export interface RedisHost {
  readonly host: string;
  readonly port: number;
}

/** Credentials and TLS of a server. */
export interface RedisAccess {
  readonly username?: string;
  readonly password?: string;
  /** Set for TLS. `ca` replaces the certificate authorities of the system. */
  readonly tls?: { readonly ca?: string };
}

export interface RedisServer {
  readonly kind: "server";
  /** Without the parameters that only Farebox reads. */
  readonly url: string;
  readonly tls: RedisAccess["tls"];
  /** The socket of `url`, if it names a Unix socket. */
  readonly socket?: RedisSocket;
}

export interface RedisCluster {
  readonly kind: "cluster";
  readonly seeds: readonly RedisHost[];
  readonly access: RedisAccess;
}

export interface RedisSentinels {
  readonly kind: "sentinel";
  readonly sentinels: readonly RedisHost[];
  /** The name of the master in Sentinel. */
  readonly master: string;
  readonly database: number;
  readonly access: RedisAccess;
  /** Separate from `access`, because Sentinels often need no login when the master does. */
  readonly sentinelLogin: Pick<RedisAccess, "username" | "password">;
}

const REDIS_PORT = 6379;
const SENTINEL_PORT = 26_379;
const SENTINEL = /^(rediss?)\+sentinel:\/\/(?:([^@/]*)@)?([^/?]+)\/([^/?]+)(?:\/(\d+))?(\?.*)?$/;

/** @throws WrongRedisUrl */
export function parseRedisUrl(url: string): RedisServer | RedisCluster | RedisSentinels {
  if (isRedisSocket(url)) return { kind: "server", url, tls: undefined, socket: socketOf(url) };
  if (/^rediss?\+sentinel:/.test(url)) return parseSentinels(url);
  if (url.includes(",") || /^rediss?\+cluster:/.test(url)) return parseCluster(url);
  const server = parseUrl(url);
  const { tls } = accessOf(server);
  if (tls === undefined) return { kind: "server", url, tls };
  server.searchParams.delete("ca");
  return { kind: "server", url: server.href, tls };
}

function socketOf(url: string): RedisSocket {
  try {
    return parseRedisSocket(url);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new WrongRedisUrl(`The URL of Redis ${error.message}`);
  }
}

function parseCluster(url: string): RedisCluster {
  const seeds = url.split(",").map((seed) => parseUrl(seed.replace("+cluster:", ":")));
  const [first] = seeds;
  if (first === undefined) throw new WrongRedisUrl("The URL of a Redis Cluster has no seed");
  if (seeds.some(({ protocol }) => protocol !== first.protocol)) {
    throw new WrongRedisUrl("All seeds of a Redis Cluster must begin with redis:, or all rediss:");
  }
  // Seeds after the first may omit the user and password.
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

/** `rediss+sentinel://user:password@one:26379,two:26379/master`, and `/1` for database 1. */
function parseSentinels(url: string): RedisSentinels {
  const [, protocol, user = "", hosts = "", master = "", database, query = ""] =
    SENTINEL.exec(url) ?? [];
  if (protocol === undefined) {
    throw new WrongRedisUrl(
      "The URL of Redis Sentinel must be like redis+sentinel://host:26379,host:26379/master",
    );
  }
  const sentinels = hosts.split(",").map((host) => parseUrl(`${protocol}://${host}`));
  const login = user === "" ? "" : `${user}@`;
  const options = parseUrl(`${protocol}://${login}host${query}`);
  const sentinelUser = options.searchParams.get("sentinel-user");
  const sentinelPassword = options.searchParams.get("sentinel-password");
  return {
    kind: "sentinel",
    sentinels: sentinels.map((sentinel) => hostOf(sentinel, SENTINEL_PORT)),
    master: decodeURIComponent(master),
    database: Number(database ?? 0),
    access: accessOf(options),
    sentinelLogin: {
      ...(sentinelUser !== null && { username: sentinelUser }),
      ...(sentinelPassword !== null && { password: sentinelPassword }),
    },
  };
}

function parseUrl(url: string): URL {
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
    throw new WrongRedisUrl("The URL of Redis has ?ca= but no TLS: it must begin with rediss:");
  }
  return {
    ...(username !== "" && { username: decodeURIComponent(username) }),
    ...(password !== "" && { password: decodeURIComponent(password) }),
    ...(protocol === "rediss:" && { tls: caFile === null ? {} : { ca: readCa(caFile) } }),
  };
}

function readCa(file: string): string {
  try {
    return textOfBytes(readFileSync(file));
  } catch (cause) {
    throw new WrongRedisUrl(`The URL of Redis names the CA file '${file}', which cannot be read`, {
      cause,
    });
  }
}
