// Tests that every example of the documentation works as it stands, and gets the documented answer.

import { describe, expect, test } from "bun:test";
import { applicationReceipt, receipt } from "../../../src/account/receipt-endpoint.ts";
import {
  applicationRun,
  run,
  updateApplicationRun,
  updateRun,
} from "../../../src/account/run-endpoint.ts";
import { SCOPES } from "../../../src/core/access/services.ts";
import { exampleTarget } from "../../../src/http/docs/docs-page.ts";
import type { DocumentedEndpoint } from "../../../src/http/endpoint-errors.ts";
import type { Example } from "../../../src/http/endpoint-info.ts";
import { DOCUMENTED } from "../../../src/routes.ts";
import { chatBody, completionOf } from "../../support/api/api-world.ts";
import { misfit, undocumented } from "../../support/api/contract.ts";
import { EXAMPLE_CATALOGUE } from "../../support/api/example-models.ts";
import { sharedMail } from "../../support/api/shared-api.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { mailBody, resultOf } from "../../support/stores/mail-world.ts";

const ENDPOINTS = [...DOCUMENTED.gateway, ...DOCUMENTED.application, ...DOCUMENTED.program];

const world = await sharedMail({ catalogue: () => EXAMPLE_CATALOGUE });
const { api } = world;
const accounts: Partial<Record<string, TestAccount>> = {
  gateway: await api.account({ contract: "enterprise", paid: "100", scopes: SCOPES }),
  application: await api.account({ surface: "application", plan: "max", paid: "9" }),
};

async function send(one: DocumentedEndpoint, example: Example): Promise<Response> {
  const account = one.access === "anybody" ? undefined : accounts[one.surface ?? ""];
  const path = exampleTarget(one, await withRealId(one, example));
  return await fetch(api.parts.url + path, {
    method: one.method,
    headers: {
      ...(account !== undefined && { authorization: `Bearer ${account.key}` }),
      ...example.headers,
    },
    ...(example.body !== undefined && { body: JSON.stringify(example.body) }),
  });
}

/**
 * The example; one of a message or a receipt gets the id of an existing message or request. The run
 * of an example has begun.
 */
async function withRealId(one: DocumentedEndpoint, example: Example): Promise<Example> {
  if (accounts.gateway === undefined) throw new Error("There is no account");
  const caller = accounts[one.surface ?? ""] ?? null;
  const path = `${one.surface === "application" ? "/api" : ""}/v1/chat/completions`;
  if (one === receipt || one === applicationReceipt) {
    const { svc } = await completionOf(await api.postTo(path, caller, chatBody()));
    await api.parts.stores.flush();
    return { ...example, params: { id: svc.request_id } };
  }
  if ([run, updateRun, applicationRun, updateApplicationRun].some((each) => each === one)) {
    const headers = { "x-svc-run": `${example.params?.id}; max-usd=2.00; ttl=3600` };
    await api.postTo(path, caller, chatBody(), { headers });
    return example;
  }
  if (example.params === undefined || one.service !== "mail") return example;
  const { id } = await resultOf(await world.send(accounts.gateway, mailBody()));
  return { ...example, params: { id } };
}

for (const one of ENDPOINTS) {
  describe(`${one.method} ${one.path}`, () => {
    test("has an example", () => {
      expect(one.examples.length).toBeGreaterThan(0);
    });

    for (const example of one.examples) {
      test(`answers the example "${example.summary}" as documented`, async () => {
        const response = await send(one, example);
        expect(response.status).toBe(200);
        const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
        if (isStream === true) await expectStream(one, await response.text());
        else expect(undocumented(one, response, await response.json())).toBeNull();
      });

      test(`documents a reply to "${example.summary}" that has its own schema`, () => {
        const chunks = one.chunk !== undefined && Array.isArray(example.reply) ? example.reply : [];
        for (const chunk of chunks) expect(misfit(one.chunk ?? one.reply, chunk)).toBeNull();
        if (chunks.length === 0) expect(misfit(one.reply, example.reply)).toBeNull();
      });
    }
  });
}

async function expectStream(one: DocumentedEndpoint, text: string): Promise<void> {
  const data = text.split("\n\n").flatMap((frame) => frame.match(/^data: (.*)$/m)?.[1] ?? []);
  // Streams of chat completions end with [DONE], those of other doors with an event.
  const isChat = data.at(-1) === "[DONE]";
  expect(isChat).toBe(one.path.endsWith("/completions"));
  const chunks = isChat ? data.slice(0, -1) : data;
  expect(chunks.length).toBeGreaterThan(1);
  for (const chunk of chunks) {
    expect(misfit(one.chunk ?? one.reply, JSON.parse(chunk))).toBeNull();
  }
}
