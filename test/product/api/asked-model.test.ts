// Tests that log, export and receipt of a call have both the model that served it and the name by
// which the caller asked for it.

import { beforeEach, describe, expect, test } from "bun:test";
import { toUuid } from "../../../src/core/ids.ts";
import type { ReceiptClaims } from "../../../src/core/receipts/receipt-jws.ts";
import { AUTO_TERMS } from "../../../src/services/chat/models/catalogue.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { MODEL } from "../../support/api/models.ts";
import { sharedApi } from "../../support/api/shared-api.ts";
import {
  batchesOf,
  endBatch,
  textBatch,
  USAGE,
  wholeReply,
} from "../../support/fakes/scripted-chat.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

const MODELS = [{ ...MODEL, id: "fine-1", aliases: ["nick", "old-*"] }];
const auto = { policy: "quality", models: new Map([["fine-1", AUTO_TERMS]]) } as const;
const catalogue = catalogueOf(MODELS, [], { auto });
const api = await sharedApi({ catalogue: () => catalogue });
const { stores } = api.parts;
beforeEach(() => {
  api.chat.reply = async () => wholeReply("Hi");
  api.chat.batches = () => batchesOf([textBatch("Hi"), endBatch(USAGE)]);
});

const messages = [{ role: "user", content: "Hello" }];

/** Every door of chat, with a body for a model. */
const DOORS: readonly (readonly [path: string, body: (model: string) => object])[] = [
  ["/v1/chat/completions", (model) => ({ model, messages })],
  ["/v1/chat/completions", (model) => ({ model, messages, stream: true })],
  ["/v1/completions", (model) => ({ model, prompt: "Hello" })],
  ["/v1/responses", (model) => ({ model, input: "Hello" })],
  ["/v1/messages", (model) => ({ model, messages, max_tokens: 9 })],
  ["/v1/messages/count_tokens", (model) => ({ model, messages })],
];

interface Noted {
  readonly model: string | null;
  readonly asked: string | null;
}

/** The models of a call in the log, and those in its receipt. */
async function notedBy(account: TestAccount, path: string, body: object) {
  const response = await api.postTo(path, account, body);
  await response.text();
  await stores.flush();
  const request = response.headers.get("x-request-id") ?? "";
  const [log] = await stores.database.sql<Noted[]>`
    SELECT model, asked_model AS asked FROM request_log WHERE request = ${toUuid(request)}`;
  const receipt = (await (await api.get(`/v1/receipts/${request}`, account)).json()) as {
    readonly claims: Pick<ReceiptClaims, "receipt">;
  };
  const { model, asked_model: asked } = receipt.claims.receipt;
  return { status: response.status, log: { ...log }, receipt: { model, asked } };
}

describe("a call of a model", () => {
  for (const [path, body] of DOORS) {
    test(`at ${path} is noted by its alias, too: ${Object.keys(body(""))}`, async () => {
      const account = await api.account({ paid: "5" });
      expect(await notedBy(account, path, body("nick"))).toEqual({
        status: 200,
        log: { model: "fine-1", asked: "nick" },
        receipt: { model: "fine-1", asked: "nick" },
      });
    });
  }

  test("by its id needs no further name in the log, and has it in the receipt", async () => {
    const account = await api.account({ paid: "5" });
    const body = { model: "fine-1", messages };
    expect(await notedBy(account, "/v1/chat/completions", body)).toMatchObject({
      log: { model: "fine-1", asked: null },
      receipt: { model: "fine-1", asked: "fine-1" },
    });
  });

  test("by a name that an alias covers is noted by the alias, not by its text", async () => {
    const account = await api.account({ paid: "5" });
    const body = { model: "old-and-private", messages };
    expect(await notedBy(account, "/v1/chat/completions", body)).toMatchObject({
      log: { model: "fine-1", asked: "old-*" },
      receipt: { asked: "old-*" },
    });
  });

  test("that the service chose is noted as auto", async () => {
    const account = await api.account({ surface: "application", plan: "max", paid: "10" });
    for (const body of [{ messages }, { model: "auto", messages }]) {
      expect(await notedBy(account, "/api/v1/chat/completions", body)).toMatchObject({
        status: 200,
        log: { model: "fine-1", asked: "auto" },
        receipt: { model: "fine-1", asked: "auto" },
      });
    }
  });

  test("that was refused has both names, and no name that does not exist", async () => {
    const account = await api.account({ free: "0.000001" });
    expect(await notedBy(account, "/v1/chat/completions", { model: "nick", messages })).toEqual({
      status: 402,
      log: { model: "fine-1", asked: "nick" },
      receipt: { model: "fine-1", asked: "nick" },
    });
    expect(await notedBy(account, "/v1/chat/completions", { model: "unknown", messages })).toEqual({
      status: 404,
      log: { model: null, asked: null },
      receipt: { model: null, asked: null },
    });
  });

  test("within a run keeps the run and its step beside the name", async () => {
    const account = await api.account({ paid: "5" });
    const headers = { "x-svc-run": "job-1; step=plan; max-usd=1" };
    const response = await api.post(account, { model: "nick", messages }, { headers });
    await response.text();
    await stores.flush();
    const request = toUuid(response.headers.get("x-request-id") ?? "");
    const [row] = await stores.database.sql`
      SELECT asked_model, run, step FROM request_log WHERE request = ${request}`;
    expect({ ...row }).toEqual({ asked_model: "nick", run: "job-1", step: "plan" });
  });
});
