// What running a script needs of a Redis client. Two clients offer it: ioredis for every kind of
// deployment, and `RespClient` for a single server, at less CPU a command.

import type { Cluster, Redis } from "ioredis";

/** Text is Buffer too: a reply may hold packed records, which are no UTF-8. */
export type Reply = Buffer | number | null | Error | readonly Reply[];

export interface ScriptClient {
  /**
   * Calls a function of a library that the server has. Rejects with an Error whose message begins
   * with the server's code (`ERR Function not found`), or with what kept the server from answering;
   * the function may then have run.
   */
  fcall(name: string, keys: readonly string[], args: readonly (string | Buffer)[]): Promise<Reply>;
  /** Ends the connection, where the client has one of its own. */
  close?(): void;
}

/** A command of ioredis that its types leave out. */
interface BufferCommands {
  fcallBuffer(...args: readonly (string | number | Buffer)[]): Promise<Reply>;
}

/** Scripts through ioredis: one server, Sentinel or Cluster. */
export class IoredisScriptClient implements ScriptClient {
  readonly #redis: BufferCommands;

  constructor(redis: Redis | Cluster) {
    this.#redis = redis as unknown as BufferCommands;
  }

  fcall(name: string, keys: readonly string[], args: readonly (string | Buffer)[]): Promise<Reply> {
    return this.#redis.fcallBuffer(name, keys.length, ...keys, ...args);
  }
}
