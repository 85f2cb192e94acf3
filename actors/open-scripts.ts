// The client that runs scripts against a single server, at half the CPU of the general one.

import { RespClient } from "./resp-client.ts";
import type { OpenScriptClient } from "./script-runner.ts";

/** A script that Redis does not answer within this time failed; it may still have run. */
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
      onConnect: async (command) => connected(String(await command("INFO", "replication"))),
      onError,
    });
}
