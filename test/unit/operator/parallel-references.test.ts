// Changes of balances that come over HTTP at the same time under few ids: of each id one counts,
// and the balance is the sum of the answers.

import { expect, setDefaultTimeout, test } from "bun:test";
import { nano, usd } from "../../../src/core/money/money.ts";
import type { ActionReply } from "../../../src/operator/act.ts";
import type { OperatorAccountReply } from "../../../src/readings/operator-account.ts";
import type { TrailReply } from "../../../src/readings/trail.ts";
import { ConsoleWorld } from "../../support/api/console-world.ts";
import { anySeed, Random } from "../../support/random.ts";
import { shared } from "../../support/shared.ts";

setDefaultTimeout(300_000);

const operators = await shared(ConsoleWorld.startForOperators());

const SEED = Number(process.env.REFERENCES_SEED ?? anySeed());
/** `FAREBOX_LONG=1` tries as many as one operator may send in a minute. */
const ROUNDS = process.env.FAREBOX_LONG === "1" ? 30 : 4;
const REQUESTS = 24;
const ACTIONS = ["credit", "adjust"] as const;
const AMOUNTS = ["1", "2.5", "0.000000001"] as const;

async function paidOf(id: string): Promise<bigint> {
  const { body } = await operators.get<OperatorAccountReply>("operator", `/accounts/${id}`);
  return usd(body.overview.balance.paid_usd);
}

for (let round = 0; round < ROUNDS; round++) {
  const seed = (SEED + round) >>> 0;
  test(`of each id one change counts (REFERENCES_SEED=${seed})`, async () => {
    const random = new Random(seed);
    const accounts = [(await operators.account()).id, (await operators.account()).id];
    const ids = [1, 2, 3].map((number) => `op_${seed}_${number}`);
    const sent = Array.from({ length: REQUESTS }, () => ({
      account: random.pick(accounts),
      action: random.pick(ACTIONS),
      id: random.pick(ids),
      amount_usd: random.pick(AMOUNTS),
    }));
    const answers = await Promise.all(
      sent.map(async ({ account, action, ...body }) => {
        const path = `/accounts/${account}/${action}`;
        const {
          status,
          code,
          body: reply,
        } = await operators.post<ActionReply>("operator", path, { reason: "attack", ...body });
        return {
          account,
          action,
          ...body,
          status,
          code,
          isFirst: status === 200 && !reply.repeated,
        };
      }),
    );
    const wrong = answers.filter(
      ({ status, code }) => status !== 200 && code !== "reference_reused",
    );
    expect(wrong).toEqual([]);
    for (const id of ids) {
      const ofId = answers.filter((answer) => answer.id === id);
      const firsts = ofId.filter(({ isFirst }) => isFirst);
      expect(firsts).toHaveLength(ofId.length === 0 ? 0 : 1);
      // Every other one that was answered 200 says the same as the first.
      const said = ofId.filter(({ status }) => status === 200);
      const words = said.map(({ account, action, amount_usd }) => [account, action, amount_usd]);
      expect(new Set(words.map(String)).size).toBe(words.length === 0 ? 0 : 1);
    }
    for (const account of accounts) {
      const own = answers.filter((answer) => answer.isFirst && answer.account === account);
      const expected = own.reduce((sum, { amount_usd }) => sum + usd(amount_usd), 0n);
      expect(await paidOf(account)).toBe(nano(expected));
      const trail = await operators.get<TrailReply>("operator", `/trail?account=${account}`);
      expect(trail.body.entries).toHaveLength(own.length);
    }
  });
}
