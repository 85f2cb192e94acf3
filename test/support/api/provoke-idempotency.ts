// Provokes the refusals of calls for their Idempotency-Key.

import { limitKey } from "../../../actors/records/keys.ts";
import { IDEMPOTENCY } from "../../../src/core/access/limits.ts";
import { closedGate } from "../gate.ts";
import type { TestAccount } from "../stores/accounts.ts";
import { type ApiWorld, chatBody, until } from "./api-world.ts";

/** By error code, for a chat endpoint and accounts that can pay. */
export function idempotencyRefusals(
  api: ApiWorld,
  { path, open }: { readonly path: string; readonly open: () => Promise<TestAccount> },
) {
  const send = (account: TestAccount, fields: object = {}) =>
    api.postTo(path, account, chatBody(fields), { headers: { "idempotency-key": "one key" } });
  return {
    idempotency_key_mismatch: async () => {
      const account = await open();
      await (await send(account)).text();
      return await send(account, { temperature: 1 });
    },
    idempotency_in_progress: async () => {
      const account = await open();
      const gate = closedGate();
      const { reply } = api.chat;
      api.chat.reply = async (...given) => {
        await gate.pass();
        return await reply(...given);
      };
      const first = send(account);
      await until(() => api.chat.open > 0, "the first request reached the model");
      const repeat = await send(account);
      gate.open();
      await (await first).text();
      return repeat;
    },
    idempotency_already_charged: async () => {
      const account = await open();
      await (await send(account, { stream: true })).text();
      return await send(account, { stream: true });
    },
    too_many_idempotency_keys: async () => {
      const account = await open();
      const { redis } = api.parts.stores;
      const of = { bucket: account.row.bucket, account: account.row.id };
      const record = Buffer.alloc(16);
      record.writeDoubleLE(Math.floor(Date.now() / 86_400_000));
      record.writeDoubleLE(IDEMPOTENCY.keysPerDay, 8);
      await redis.set(limitKey(of, "idempotency_keys"), record);
      return await send(account);
    },
  };
}
