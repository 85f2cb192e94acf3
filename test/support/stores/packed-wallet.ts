// Writes packed records directly, as the product never does.

import { parseWallet, type Wallet } from "../../../actors/records/records.ts";
import { pack, type RedisClient } from "../../../actors/scripts/script.ts";

/**
 * Changes fields of a wallet in Redis and keeps the others, the earlier ends of free credit too.
 */
export async function changeWallet(
  redis: RedisClient,
  key: string,
  change: Partial<Omit<Wallet, "freeEnds">>,
): Promise<void> {
  const bytes = await redis.getBuffer(key);
  if (bytes === null) throw new Error(`There is no wallet ${key}`);
  const wallet = { ...parseWallet(bytes), ...change };
  const changed = pack(
    ...Object.values({ ...wallet, freeEnds: wallet.freeEnds.lastMs }).map(Number),
  );
  const ends = bytes.subarray(changed.length);
  await redis.set(key, Buffer.concat([changed, ends]));
}
