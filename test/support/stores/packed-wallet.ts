// Writes packed records directly, as the product never does.

import { parseWallet, type Wallet } from "../../../actors/records/records.ts";
import { pack, type RedisClient } from "../../../actors/scripts/script.ts";

/** Changes fields of a wallet in Redis and keeps the others. */
export async function changeWallet(
  redis: RedisClient,
  key: string,
  change: Partial<Wallet>,
): Promise<void> {
  const bytes = await redis.getBuffer(key);
  if (bytes === null) throw new Error(`There is no wallet ${key}`);
  const wallet = { ...parseWallet(bytes), ...change };
  await redis.set(key, pack(...Object.values(wallet).map(Number)));
}
