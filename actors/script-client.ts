// What running a script needs of a Redis client. Two clients offer it: ioredis for every kind of
// deployment, and `RespClient` for a single server, at less CPU a command.

import type { Cluster, Redis } from "ioredis";

/** Text is Buffer too: a reply may hold packed records, which are no UTF-8. */
export type Reply = Buffer | number | null | Error | readonly Reply[];

export interface ScriptClient {
  /**
   * Runs a script that the server knows. Rejects with an Error whose message begins with the
   * server's code (`NOSCRIPT ...`), or with what kept the server from answering; the script may
   * then have run.
   */
  evalsha(sha: string, keys: readonly string[], args: readonly (string | Buffer)[]): Promise<Reply>;
  /** Ends the connection, where the client has one of its own. */
  close?(): void;
}

/** A command of ioredis that its types leave out. */
interface BufferCommands {
  evalshaBuffer(...args: readonly (string | number | Buffer)[]): Promise<Reply>;
}

/** Scripts through ioredis: one server, Sentinel or Cluster. */
export class IoredisScriptClient implements ScriptClient {
  readonly #redis: BufferCommands;

  constructor(redis: Redis | Cluster) {
    this.#redis = redis as unknown as BufferCommands;
  }

  evalsha(
    sha: string,
    keys: readonly string[],
    args: readonly (string | Buffer)[],
  ): Promise<Reply> {
    return this.#redis.evalshaBuffer(sha, keys.length, ...keys, ...args);
  }
}
