// Images and PDFs by the official OpenAI client, against the product as processes with a
// configuration file: the request to the model, and the bill in the reply, the ledger and the log.

import { expect, test } from "bun:test";
import OpenAI from "openai";
import type { ChatCompletionContentPart } from "openai/resources";
import { toUuid } from "../../../src/core/ids.ts";
import { type NanoUsd, toDecimal } from "../../../src/core/money/money.ts";
import { pdfUrl, pngUrl } from "../../support/api/images.ts";
import { rejection } from "../../support/api/rejection.ts";
import { eventually } from "../../support/eventually.ts";
import { startProduct } from "../../support/product/product.ts";
import { shared } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

/** The cost of the usage that the fake upstream reports, at $1 and $2 a million. */
const PRICE = "0.000028";

const product = await shared(
  startProduct({ apis: 1, models: [{ id: "ok", takesMedia: true }, { id: "details" }] }),
);

function client({ key }: Pick<TestAccount, "key">): OpenAI {
  return new OpenAI({ apiKey: key, baseURL: `${product.api(0).url}/v1`, maxRetries: 0 });
}

const CONTENT: ChatCompletionContentPart[] = [
  { type: "text", text: "What is this?" },
  { type: "image_url", image_url: { url: pngUrl(1_024, 768, 2_000_000), detail: "high" } },
  { type: "file", file: { filename: "fares.pdf", file_data: pdfUrl(3_000_000) } },
];
const MESSAGES = [{ role: "user", content: CONTENT }] as const;

test("the bill of a call with 6 MB of images and files is the same everywhere", async () => {
  const account = await product.account({ paid: "1" });
  const { data, response } = await client(account)
    .chat.completions.create({ model: "ok", messages: [...MESSAGES] })
    .withResponse();
  expect(data.choices[0]?.message.content).toBe("Fares are paid before the ride begins.");
  expect(response.headers.get("x-svc-cost-usd")).toBe(PRICE);
  const asked = product.upstream.requests.at(-1);
  expect(asked?.body.messages).toEqual([...MESSAGES]);
  const { request_id } = (data as unknown as { svc: { request_id: string } }).svc;
  const { sql } = product.operator.database;
  const request = toUuid(request_id);
  await eventually("the worker has flushed the call", async () => {
    const [row] = await sql`SELECT count(*)::int AS rows FROM request_log
      WHERE request = ${request}`;
    return row?.rows === 1;
  });
  const [row] = await sql`
    SELECT l.cost::text AS logged, -sum(e.paid_delta + e.free_delta) AS charged
    FROM request_log l JOIN ledger_entries e USING (request)
    WHERE l.request = ${request} GROUP BY l.cost, l.at`;
  const inBooks = [row?.logged, row?.charged].map((text) => toDecimal(BigInt(text) as NanoUsd));
  expect(inBooks).toEqual([PRICE, PRICE]);
  expect(await product.audit()).toMatchObject({ difference: null, openHolds: 0 });
});

test("the list of models says who takes them, and another model refuses them unpaid", async () => {
  const account = await product.account({ paid: "1" });
  const takes = new Map<string, unknown>();
  for await (const model of client(account).models.list()) {
    takes.set(model.id, (model as unknown as { svc: { takes?: unknown } }).svc.takes);
  }
  expect([takes.get("ok"), takes.get("details")]).toEqual([["image", "pdf"], undefined]);
  const refused = client(account).chat.completions.create({
    model: "details",
    messages: [...MESSAGES],
  });
  const { message } = (await rejection(refused)) as Error;
  expect(message).toContain(
    "messages[0].content[1].image_url.url must not be an image: 'details' takes text only",
  );
});
