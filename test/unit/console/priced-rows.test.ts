// Tests the price lines of a call that several price rows priced: each part has its unit price, and
// the lines make up the charge.

import { expect, test } from "bun:test";
import { costOfPieces, pricesOf, rowsOfPieces } from "../../../src/core/money/call-cost.ts";
import { price, usd } from "../../../src/core/money/money.ts";
import {
  type PartCounts,
  parseParts,
  partsText,
  SERVED_PLAINLY,
  sumOfUsages,
  type Tier,
  usageOf,
} from "../../../src/core/money/usage.ts";
import type { ReceiptReply } from "../../../src/readings/receipt.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { chatBody } from "../../support/api/api-world.ts";
import { ConsoleWorld } from "../../support/api/console-world.ts";
import { MODEL } from "../../support/api/models.ts";
import { shared } from "../../support/shared.ts";

const micro = (amount: number) => price(String(amount), 1_000_000);
const row = (factor: number) => ({
  input: micro(factor),
  output: micro(4 * factor),
  cachedInput: micro(factor / 10),
  fees: { web_search: { price: micro(1_000 * factor), per: "call" as const } },
});
const PRICES = pricesOf([
  row(10),
  { ...row(30), when: { tier: "priority" } },
  { ...row(5), when: { tier: "flex" } },
]);
const catalogue = catalogueOf([{ ...MODEL, prices: PRICES }], []);
const world = await shared(ConsoleWorld.start(() => ({ catalogue: () => catalogue })));

function pieceOf(tier: Tier, parts: PartCounts) {
  const served = { ...SERVED_PLAINLY, tier };
  return { usage: usageOf(parts), served, isBilled: true, isSummed: false };
}

async function receiptOf(pieces: readonly ReturnType<typeof pieceOf>[]) {
  const account = await world.account({ paid: "5" });
  const fees = { web_search: { calls: 2, queries: 2 } };
  const usage = { ...sumOfUsages(pieces.map((piece) => piece.usage)), pieces, fees };
  const message = { role: "assistant", content: "Hello." } as const;
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  world.api.chat.reply = async () => ({ choices, usage });
  const response = await world.api.post(account, chatBody());
  expect(response.status).toBe(200);
  const { svc } = (await response.json()) as { svc: { request_id: string } };
  await world.api.parts.stores.flush();
  const path = `/accounts/${account.id}/requests/${svc.request_id}`;
  const { body } = await world.get<ReceiptReply>("viewer", path);
  expect(usd(body.charged_usd)).toBe(costOfPieces(PRICES, pieces, { atMs: 0, fees }));
  return body;
}

test("of two rows each part has its own price, and the fees those of the last piece", async () => {
  const { lines, charged_usd: charged } = await receiptOf([
    pieceOf("standard", { uncached: 100, cacheRead: 20, text: 7 }),
    pieceOf("priority", { uncached: 30, text: 2 }),
    pieceOf("standard", { uncached: 1 }),
    pieceOf("flex", { uncached: 40, text: 11 }),
  ]);
  expect(lines.map(({ what, units, price_usd }) => [what, units, price_usd])).toEqual([
    ["input tokens", 30, "30"],
    ["output tokens", 2, "120"],
    ["input tokens", 101, "10"],
    ["cached input tokens", 20, "1"],
    ["output tokens", 7, "40"],
    ["input tokens", 40, "5"],
    ["output tokens", 11, "20"],
    ["web_search fee", 2, "0.005"],
  ]);
  const sum = lines.reduce((all, line) => all + usd(line.cost_usd ?? ""), 0n);
  expect(sum).toBe(usd(charged));
});

test("of one row the lines are as ever, although the call had several pieces", async () => {
  const { lines } = await receiptOf([
    pieceOf("priority", { uncached: 30, text: 2 }),
    pieceOf("priority", { uncached: 12 }),
  ]);
  expect(lines.map(({ what, units, price_usd }) => [what, units, price_usd])).toEqual([
    ["input tokens", 42, "30"],
    ["output tokens", 2, "120"],
    ["web_search fee", 2, "0.03"],
  ]);
});

test("the log's text of parts has the tokens of each row, and gives them back", () => {
  const pieces = [
    pieceOf("flex", { uncached: 4, cacheWrite5m: 3 }),
    pieceOf("standard", { uncached: 9, text: 1 }),
  ];
  const rows = rowsOfPieces(PRICES, pieces, 0) ?? [];
  expect(rows.map(({ row: place }) => place)).toEqual([2, 0]);
  const details = { more: { cacheWrite5m: 3 }, fees: {}, reasoning: 1, rows };
  const text = partsText(details);
  expect(text).toBe(
    "cacheWrite5m:3 reasoning:1 2.cacheWrite5m:3 2.uncached:4 0.uncached:9 0.text:1",
  );
  expect(parseParts(text)).toEqual(details);
  expect(rowsOfPieces(PRICES, pieces.slice(0, 1), 0)).toBeNull();
});
