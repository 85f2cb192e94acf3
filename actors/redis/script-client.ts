// The interface of a Redis client that runs scripts. The interface has two implementations: ioredis
// for every kind of deployment, and `RespClient` for a single server, at less CPU per command.

import type { Cluster, Redis } from "ioredis";
import { type FixedParts, plainParts } from "./fixed-parts.ts";

/** Text is a Buffer too: a reply may contain packed records, which are not UTF-8. */
export type Reply = Buffer | number | null | Error | readonly Reply[];

/** An argument of a function; a number is sent as its decimal digits. */
export type Argument = string | number | Buffer;

/** The name of a key, or those of several. */
export type Keys = string | FixedParts;

/** The receiver of a reply. One of both functions is called, once; neither may throw. */
export interface ReplyReceiver {
  resolve(reply: Reply): void;
  reject(error: Error): void;
}

export interface ScriptClient {
  /**
   * Calls a function of a library that the server has. The promise rejects with an Error: either
   * its message begins with the server's code (`ERR Function not found`), or the server sent no
   * reply. Without a reply, the function may have run.
   */
  fcall(
    name: string,
    keys: readonly Keys[],
    args: readonly Argument[],
    receiver: ReplyReceiver,
  ): void;
  /**
   * True if the client may send a function twice: a reply then says nothing about the first copy.
   */
  readonly sendsTwice: boolean;
  /** Ends the connection if the client has its own. */
  close?(): void;
}

/** A command of ioredis that its types leave out. */
interface BufferCommands {
  fcallBuffer(...args: readonly (string | number | Buffer)[]): Promise<Reply>;
}

/** Scripts through ioredis: one server, Sentinel or Cluster. */
export class IoredisScriptClient implements ScriptClient {
  readonly sendsTwice = true;
  readonly #redis: BufferCommands;

  constructor(redis: Redis | Cluster) {
    this.#redis = redis as unknown as BufferCommands;
  }

  // biome-ignore lint/complexity/useMaxParams: every script runs it
  fcall(
    name: string,
    keys: readonly Keys[],
    args: readonly Argument[],
    receiver: ReplyReceiver,
  ): void {
    const names = plainParts(keys);
    this.#redis.fcallBuffer(name, names.length, ...names, ...args).then(
      (reply) => receiver.resolve(reply),
      (error) => receiver.reject(error),
    );
  }
}
