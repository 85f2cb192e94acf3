// Makes the console's identity of people, on the stores of a test.

import { timingSafeEqual } from "node:crypto";
import { DEFAULT_BRAND } from "../../../src/core/brand/brand.ts";
import { createClientInfo } from "../../../src/http/client-info.ts";
import type { PasswordHashes } from "../../../src/identity/auth.ts";
import { Identity, type IdentityConfig } from "../../../src/identity/identity.ts";
import type { ApiStores } from "../api/api-world.ts";
import { random } from "../random.ts";

/** Hashes without the cost of scrypt, which took almost half of the time of these tests. */
const CHEAP_HASHES = {
  hash: async (password: string) => Bun.SHA256.hash(password, "hex"),
  verify: async ({ hash, password }: { hash: string; password: string }) =>
    timingSafeEqual(Buffer.from(hash), Buffer.from(Bun.SHA256.hash(password, "hex"))),
};

const ORIGIN = "http://127.0.0.1";

export interface IdentityTerms extends Partial<IdentityConfig> {
  /** Null: those of production. */
  readonly passwords?: PasswordHashes | null;
}

/** Makes an identity on these stores; mails go nowhere and are shown in answers. */
export function identityOf(
  { database, actors }: ApiStores,
  { passwords = CHEAP_HASHES, ...config }: IdentityTerms = {},
  now: () => number = Date.now,
): Identity {
  return new Identity(
    {
      origin: ORIGIN,
      secrets: ["a session secret of the tests, long enough"],
      brand: () => DEFAULT_BRAND,
      // Requests come from many addresses, through a trusted proxy.
      showsMailsTo: () => true,
      countsNetworks: true,
      sso: null,
      ...config,
    },
    {
      database,
      random,
      now,
      log: { info: () => {}, warn: () => {}, error: console.error },
      clientInfo: createClientInfo({ ipHashSecret: () => "test", windowSecret: "test" }),
      ...(passwords !== null && { passwords }),
      onOpened: async ({ id, bucket }) => await actors.of(id, bucket).applyOperations(),
    },
  );
}
