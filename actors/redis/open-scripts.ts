// The client that runs scripts on a single server, at half the CPU cost of ioredis.

import { isReplica } from "../../src/core/redis-replica.ts";
import type { OpenScriptClient } from "../scripts/script-runner.ts";
import { RespClient } from "./resp-client.ts";

/** If Redis does not reply within this time, the script failed; it may still have run. */
const COMMAND_TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 3_000;

/** Opens the client for one server; a Cluster or Sentinel needs ioredis. */
export function scriptsOfOneServer(
  { url, tls }: { readonly url: string; readonly tls: { readonly ca?: string } | undefined },
  onError: (error: Error) => void,
): OpenScriptClient {
  return (connected) =>
    new RespClient({
      url,
      ...(tls?.ca !== undefined && { tls: { ca: tls.ca } }),
      commandTimeoutMs: COMMAND_TIMEOUT_MS,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      onConnect: async (command) => {
        const replication = String(await command("INFO", "replication"));
        if (isReplica(replication)) throw new Error("Redis is a replica and takes no writes");
        await connected(replication);
      },
      onError,
    });
}
