// Provokes every code of the error table at each endpoint of the Application API that documents it.

import { describe, expect, test } from "bun:test";
import { DOCUMENTED } from "../../../src/routes.ts";
import { chatBody } from "../../support/api/api-world.ts";
import { sharedErrorWorlds } from "../../support/api/error-door.ts";
import { testErrors, testTopUps } from "../../support/api/error-tests.ts";
import { PAID_ONLY_MODEL } from "../../support/api/models.ts";
import { sharedApi } from "../../support/api/shared-api.ts";

const worlds = await sharedErrorWorlds();
const api = await sharedApi();
const PATH = "/api/v1/chat/completions";
const PLAN = { surface: "application", plan: "max", paid: "9" } as const;

testErrors(worlds, DOCUMENTED.application);
testTopUps(worlds, DOCUMENTED.application);

test("a parameter inside a message is named by its path", async () => {
  const body = chatBody({ messages: [{ role: "user", content: [{ type: "video" }] }] });
  const response = await api.postTo(PATH, await api.account(PLAN), body);
  const { error } = (await response.json()) as { error: { param: string } };
  expect(error.param).toBe("messages[0].content[0].type");
});

test("a Free plan's allowance pays no model that free credit does not pay", async () => {
  const account = await api.account({ surface: "application" });
  const response = await api.postTo(PATH, account, chatBody({ model: PAID_ONLY_MODEL.id }));
  expect(response.status).toBe(402);
});

describe("the field at fault is named by", () => {
  test.each([
    ["messages_required", {}, "messages"],
    ["invalid_parameter", chatBody({ top_p: 2 }), "top_p"],
    ["model_not_found", chatBody({ model: "nope" }), "model"],
  ])("%s", async (code, body, param) => {
    const response = await api.postTo(PATH, await api.account(PLAN), body);
    expect(await response.json()).toMatchObject({ error: { code, param } });
  });
});
