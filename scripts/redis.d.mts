// The types of redis.mjs for the tests; the program itself is plain JavaScript, because it runs
// before anything is installed.

import type { Child } from "./processes.mjs";

export interface Service {
  readonly url: string;
  readonly port: number;
  readonly dir: string;
  readonly child: Child;
  stop(): Promise<void>;
}

export interface RedisOptions {
  home: string;
  port?: number;
  password?: boolean;
  repair?: boolean;
  settings?: Record<string, string>;
  progress?: (line: string) => void;
}

export interface RedisCluster {
  readonly nodes: readonly Service[];
  readonly urls: readonly string[];
  stop(): Promise<void>;
}

export function startRedis(options: RedisOptions): Promise<Service>;
export function startRedisCluster(
  home: string,
  progress?: (line: string) => void,
): Promise<RedisCluster>;

/** Sends one command over its own connection and resolves with the raw reply. */
export function redisCommand(port: number, password: string, command: string[]): Promise<string>;
