// Provokes every code of the error table at each endpoint of the Gateway that documents it.

import { expect, test } from "bun:test";
import { ERRORS, type ErrorCode } from "../../../src/core/errors.ts";
import { DOCUMENTED } from "../../../src/routes.ts";
import { chatBody } from "../../support/api/api-world.ts";
import { sharedErrorWorlds } from "../../support/api/error-door.ts";
import { codesOf, expectError, testErrors, testTopUps } from "../../support/api/error-tests.ts";

const worlds = await sharedErrorWorlds();
const { gateway } = DOCUMENTED;

testErrors(worlds, gateway);
testTopUps(worlds, gateway);

test("every code of the table is answered somewhere", () => {
  const answered = new Set(gateway.flatMap(codesOf));
  expect([...answered].sort()).toEqual((Object.keys(ERRORS) as ErrorCode[]).sort());
});

test("the refusal of more tokens than the key may ever use says that no retry helps", async () => {
  const account = await worlds.mail.api.account({ paid: "5", tokensPerMinute: 10 });
  const response = await worlds.mail.api.post(account, chatBody());
  const endpoint = gateway.find(({ path }) => path === "/v1/chat/completions");
  if (endpoint === undefined) throw new Error("There is no chat");
  await expectError({ endpoint, code: "rate_limit_exceeded", retry: "false" }, response);
});
