// Calls a function of Redis through a script client.

import type { Argument, Keys, Reply, ScriptClient } from "../../../actors/redis/script-client.ts";

export function callFunction(
  client: Pick<ScriptClient, "fcall">,
  name: string,
  keys: readonly Keys[] = [],
  args: readonly Argument[] = [],
): Promise<Reply> {
  return new Promise((resolve, reject) => client.fcall(name, keys, args, { resolve, reject }));
}
