// The names of everything an account has in Redis. All keys of a bucket share one hash tag, so that
// a script may touch any of them together on Redis Cluster.

/** The keys of one bucket. */
export interface BucketKeys {
  /** epoch, entry (number of the last journal entry), evictions. */
  readonly meta: string;
  /** Sorted set of `account/request` by the time its lease runs out. */
  readonly leases: string;
  /** Refused requests of the current minutes, counted by account, key and minute. */
  readonly refused: string;
  /** The stream of what happened, until it is in Postgres. */
  readonly journal: string;
}

/** The keys of one account. */
export interface AccountKeys extends BucketKeys {
  readonly bucket: number;
  readonly wallet: string;
  readonly holds: string;
}

export function bucketKeys(bucket: number): BucketKeys {
  const tag = `{b${bucket}}`;
  return {
    meta: `${tag}:meta`,
    leases: `${tag}:leases`,
    refused: `${tag}:refused`,
    journal: `${tag}:journal`,
  };
}

export function accountKeys(accountId: string, bucket: number): AccountKeys {
  const tag = `{b${bucket}}`;
  return {
    ...bucketKeys(bucket),
    bucket,
    wallet: `${tag}:wallet:${accountId}`,
    holds: `${tag}:holds:${accountId}`,
  };
}

/** The request window of an API key. */
export function windowKey(bucket: number, keyId: string): string {
  return `{b${bucket}}:window:${keyId}`;
}

/** What counts against one of an account's other limits. */
export function limitKey({ bucket, account }: { bucket: number; account: string }, name: string) {
  return `{b${bucket}}:limit:${account}:${name}`;
}

/** The stored answer of a request's last script. */
export function opKey(bucket: number, requestId: string): string {
  return `{b${bucket}}:op:${requestId}`;
}

/** The request window of a caller without an account. */
export function anonymousWindowKey(caller: string): string {
  return `anonymous:${caller}`;
}

/** What a script touches that resolves a hold. */
export function holdKeys(keys: AccountKeys, requestId: string): readonly string[] {
  const { meta, wallet, holds, leases, journal } = keys;
  return [meta, wallet, holds, leases, opKey(keys.bucket, requestId), journal];
}

/** The account of a wallet key, for a scan over wallets. */
export function accountOfWallet(key: string): string {
  return key.slice(key.lastIndexOf(":") + 1);
}

export const WALLET_PATTERN = "{b*}:wallet:*";
