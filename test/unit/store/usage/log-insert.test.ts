// Tests that the flush inserts into the request log exactly the journal's data of each call.

import { expect, test } from "bun:test";
import { metadataText, outcomeText } from "../../../../src/core/journal/journal.ts";
import { usd } from "../../../../src/core/money/money.ts";
import { shared } from "../../../support/shared.ts";
import { AT_MS, METADATA, OUTCOME, openJournalLab } from "../../../support/stores/journal-lab.ts";

const lab = await shared(openJournalLab());

const CENT = usd("0.01");

test("each call of a flush keeps its own values, whatever other calls have", async () => {
  const account = await lab.account(1);
  const plain = ["null", "NULL", "", 'a"b', "c\\d", "{e,f}", "m", null, "m"];
  const models = [...plain, "\\N", "g\th\ni\rj", "\\."];
  for (const [index, model] of models.entries()) {
    await account.call(CENT, {
      atMs: AT_MS + index,
      metadata: metadataText({ ...METADATA, model, country: index % 2 === 0 ? null : "DE" }),
      outcome: outcomeText({ ...OUTCOME, promptTokens: index, status: 200 + (index % 3) }),
    });
  }
  await lab.flush();
  expect(await account.log()).toMatchObject(
    models.map((model, index) => ({
      model,
      prompt_tokens: index,
      status: 200 + (index % 3),
      country: index % 2 === 0 ? null : "DE",
    })),
  );
});

test("a row that the log has stays unchanged, and the rows beside it are written", async () => {
  const account = await lab.account(2);
  const request = "req_0000000000000000000001";
  const again = "req_0000000000000000000002";
  await account.refused({ request, outcome: "rate_limit_exceeded 1" });
  await lab.flush();
  await account.refused({ request, outcome: "rate_limit_exceeded 2" });
  await account.call(CENT, { request: again, outcome: outcomeText({ ...OUTCOME, latencyMs: 3 }) });
  await account.refused({ request: again, outcome: "rate_limit_exceeded 4" });
  await account.refused({ outcome: "rate_limit_exceeded 5" });
  await lab.flush();
  const latencies = (await account.log()).map((row) => row.latency_ms);
  expect(latencies).toEqual([1, 3, 5]);
  expect(await account.ledger()).toHaveLength(2);
  const [row] = await lab.database.sql`
    SELECT sum(calls)::int AS calls FROM usage_rollups
    WHERE account = ${account.number} AND minutes = 15`;
  expect(row?.calls).toBe(3);
  expect(await lab.rejected.countOpen()).toBe(0);
});
