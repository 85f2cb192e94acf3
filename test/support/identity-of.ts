// What the console knows of people, on the stores of a test.

import { createClientInfo } from "../../src/http/client-info.ts";
import { Identity, type IdentityConfig } from "../../src/identity/identity.ts";
import type { ApiStores } from "./api-world.ts";
import { random } from "./random.ts";

const ORIGIN = "http://127.0.0.1";

/** Knows the people of these stores; mails go nowhere and are shown in answers. */
export function identityOf(
  { database, actors }: ApiStores,
  config: Partial<IdentityConfig> = {},
  now: () => number = Date.now,
): Identity {
  return new Identity(
    {
      origin: ORIGIN,
      secrets: ["a session secret of the tests, long enough"],
      service: "Farebox",
      showsMails: true,
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
      onOpened: async ({ id, bucket }) => await actors.of(id, bucket).applyOperations(),
    },
  );
}
