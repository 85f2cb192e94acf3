import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type MailHarness, mailAccount, mailBody, startMailHarness } from "./mail-harness.ts";

let world: MailHarness;
beforeAll(async () => {
  world = await startMailHarness();
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => {
  world.smtp.script = {};
  world.smtp.accepted.length = 0;
});

test("a message is sent, charged and reported", async () => {
  const account = await mailAccount(world.api);
  const response = await world.send(account, mailBody({ to: ["a@x.test", "b@y.test"] }));
  const body = await response.json();
  console.log(body, world.api.parts.logged);
  expect(response.status).toBe(200);
});
