// Tests that a refusal of a chat names the fields of the form that it was asked in.

import { beforeEach, describe, expect, test } from "bun:test";
import { type ErrorJson, errorOf } from "../../support/api/api-world.ts";
import { sharedResponses } from "../../support/api/responses-world.ts";
import { jsonReply } from "../../support/fakes/fake-vectors.ts";

const { api, chat } = await sharedResponses();

beforeEach(() => chat.reset());

const asMessages = (text: string) => ({ messages: [{ role: "user", content: text }] });

/** The fields of a form, and the body of a prompt in it. */
interface Door {
  readonly prompt: string;
  readonly limit: string;
  readonly bodyOf: (text: string) => object;
}

const MESSAGES = { prompt: "messages", limit: "max_tokens", bodyOf: asMessages };
const DOORS: Readonly<Record<string, Door>> = {
  "/v1/chat/completions": MESSAGES,
  "/v1/completions": { prompt: "prompt", limit: "max_tokens", bodyOf: (prompt) => ({ prompt }) },
  "/v1/messages": MESSAGES,
  "/v1/responses": {
    prompt: "input",
    limit: "max_output_tokens",
    bodyOf: (input) => ({ input }),
  },
};

describe.each(Object.entries(DOORS))("a refusal at %s", (path, { prompt, limit, bodyOf }) => {
  async function refusalOf(body: object, paid = "5"): Promise<ErrorJson> {
    const account = await api.account({ contract: "enterprise", paid });
    const response = await api.postTo(path, account, body);
    expect(response.headers.get("x-svc-cost-usd")).toBe("0");
    return await errorOf(response);
  }

  // The errors of the other forms have no such member.
  const paramOf = (param: string) => (path === "/v1/responses" ? { param } : {});

  test("for want of credit names the output limit that would fit", async () => {
    const body = { model: "chat-test", ...bodyOf("Hello"), [limit]: 30_000 };
    const { code, message } = await refusalOf(body, "0.012");
    expect(code).toBe("insufficient_credits");
    expect(message).toMatch(new RegExp(`It would fit with ${limit} of at most 5\\d{3}$`));
    expect((await refusalOf(body, "0.000001")).message).toEndWith(`Not even ${limit} 1 would fit`);
  });

  test("by a server whose context is full names the prompt", async () => {
    const message = "This model's maximum context length is 4096 tokens.";
    chat.queue(jsonReply({ error: { message, code: "context_length_exceeded" } }, 400));
    const error = await refusalOf({ model: "chat-test", ...bodyOf("Hello"), [limit]: 100 });
    expect(error).toMatchObject({ code: "context_length_exceeded", ...paramOf(prompt) });
    const exceeds = prompt === "messages" ? "exceed" : "exceeds";
    expect(error.message).toStartWith(`${prompt} ${exceeds} the model's maximum context length`);
  });

  // A request of Messages has a limit, which no context lowers.
  if (path === "/v1/messages") return;

  test("by our own count names the prompt", async () => {
    const before = chat.requests.length;
    const error = await refusalOf({ model: "short-writer", ...bodyOf("word ".repeat(7_000)) });
    expect(error).toMatchObject({ code: "context_length_exceeded", ...paramOf(prompt) });
    const leaves = prompt === "messages" ? "leave" : "leaves";
    expect(error.message).toStartWith(`${prompt} ${leaves} no room for a reply`);
    expect(chat.requests.length).toBe(before);
  });
});
