// Tests how calls name their end users, at each door, and the endpoint that shows one.

import { describe, expect, test } from "bun:test";
import { END_USER_CHARACTERS_MAX } from "../../../src/core/access/end-users.ts";
import { usd } from "../../../src/core/money/money.ts";
import { chatBody, errorOf } from "../../support/api/api-world.ts";
import { doorsAt, VECTOR_MODELS } from "../../support/api/doors-world.ts";
import { endUserOf, giveBudget, TOO_LITTLE } from "../../support/api/provoke-end-users.ts";
import { sharedMail } from "../../support/api/shared-api.ts";
import { sharedServer } from "../../support/shared.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";
import { mailAccount, mailBody } from "../../support/stores/mail-world.ts";

/** The answer to an admitted call does not matter here. */
const upstream = sharedServer(() => new Response("", { status: 500 }));
const api = await doorsAt(`http://127.0.0.1:${upstream.port}`);
const mail = await sharedMail();

const ID = "customer-4711";
const HEADER = "x-svc-end-user";
const HEADERS = { headers: { [HEADER]: ID } };
const CODE = "end_user_budget_exceeded";
const MODEL = "door-model";
const ASKED = { role: "user", content: "Hello" };

const BODIES = {
  completions: { model: MODEL, messages: [ASKED], max_tokens: 10 },
  text: { model: MODEL, prompt: "Hello", max_tokens: 10 },
  responses: { model: MODEL, input: "Hello", max_output_tokens: 10 },
  messages: { model: MODEL, messages: [ASKED], max_tokens: 10 },
  embeddings: { model: VECTOR_MODELS.embedding, input: "Hello" },
  rerank: { model: VECTOR_MODELS.rerank, query: "Hello", documents: ["Hello"] },
} as const;

interface Door {
  readonly path: string;
  readonly body: object;
  /** The fields of the body that name the end user. */
  readonly fields: readonly string[];
}

const OPENAI = ["user", "safety_identifier"];
const BY_METADATA = ["metadata.user_id"];
const DOORS: readonly Door[] = ["/v1", "/api/v1"].flatMap((base): Door[] => [
  { path: `${base}/chat/completions`, body: BODIES.completions, fields: OPENAI },
  { path: `${base}/responses`, body: BODIES.responses, fields: OPENAI },
  { path: `${base}/messages`, body: BODIES.messages, fields: BY_METADATA },
  { path: `${base}/embeddings`, body: BODIES.embeddings, fields: ["user"] },
  { path: `${base}/rerank`, body: BODIES.rerank, fields: [] },
]);
const ALL_DOORS: readonly Door[] = [
  ...DOORS,
  { path: "/v1/completions", body: BODIES.text, fields: ["user"] },
  { path: "/v1/search", body: { query: "fares" }, fields: [] },
  { path: "/v1/search/batch", body: [{ query: "fares" }], fields: [] },
];

const opened = (path: string) =>
  path.startsWith("/api/")
    ? api.account({ surface: "application", plan: "max", paid: "20" })
    : api.account({ paid: "60" });

async function limited(path: string): Promise<TestAccount> {
  const account = await opened(path);
  await giveBudget(api, account, { usd: TOO_LITTLE });
  return account;
}

function withField(body: object, field: string, id: string): object {
  return field === "metadata.user_id"
    ? { ...body, metadata: { user_id: id } }
    : { ...body, [field]: id };
}

async function codeOf(answer: Promise<Response>): Promise<string | undefined> {
  const response = await answer;
  const { error } = (await response.json()) as { error?: { code?: string; type?: string } };
  return error?.code;
}

describe("a call names its end user", () => {
  for (const { path, body, fields } of ALL_DOORS) {
    test(`at ${path} by the header, and by ${fields.join(", ") || "no field"}`, async () => {
      const account = await limited(path);
      expect(await codeOf(api.postTo(path, account, body, HEADERS))).toBe(CODE);
      for (const field of fields) {
        expect(await codeOf(api.postTo(path, account, withField(body, field, ID)))).toBe(CODE);
        const empty = withField(body, field, "");
        expect(await codeOf(api.postTo(path, account, empty))).not.toBe(CODE);
      }
      expect(await codeOf(api.postTo(path, account, body))).not.toBe(CODE);
    });
  }

  test("at /v1/maps by the header", async () => {
    const account = await limited("/v1/maps");
    const ask = async (headers: Record<string, string>) => {
      const { url } = api.parts;
      const authorization = `Bearer ${account.key}`;
      const path = "/v1/maps?action=geocode&query=Vienna";
      const reply = await fetch(url + path, { headers: { authorization, ...headers } });
      const text = await reply.text();
      return text.includes(CODE);
    };
    expect(await ask({ [HEADER]: ID })).toBe(true);
    expect(await ask({})).toBe(false);
  });

  test("at /v1/mail/send by the header", async () => {
    const account = await mailAccount(mail.api);
    await giveBudget(mail.api, account, { usd: TOO_LITTLE });
    const send = (init: object) => mail.api.postTo("/v1/mail/send", account, mailBody(), init);
    expect(await codeOf(send(HEADERS))).toBe(CODE);
    expect((await send({})).status).toBe(200);
  });

  test("the header comes first, then safety_identifier, then user", async () => {
    const account = await opened("/v1");
    await giveBudget(api, account, { usd: TOO_LITTLE, id: ID });
    const send = (fields: object, init: object = {}) =>
      codeOf(
        api.postTo("/v1/chat/completions", account, { ...BODIES.completions, ...fields }, init),
      );
    expect(await send({ user: ID, safety_identifier: "somebody" })).not.toBe(CODE);
    expect(await send({ user: "somebody", safety_identifier: ID })).toBe(CODE);
    expect(await send({ safety_identifier: "somebody" }, HEADERS)).toBe(CODE);
    expect(await send({ user: ID }, { headers: { [HEADER]: "somebody" } })).not.toBe(CODE);
    expect(await send({ user: ID, safety_identifier: null })).toBe(CODE);
  });

  test("the metadata of a response names nobody", async () => {
    const account = await limited("/v1");
    const body = { ...BODIES.responses, metadata: { user_id: ID } };
    expect(await codeOf(api.postTo("/v1/responses", account, body))).not.toBe(CODE);
  });

  test("the sessions of Claude Code share the budget of their installation", async () => {
    const account = await opened("/v1");
    const session = (id: string, device = "5dd07c33") =>
      JSON.stringify({ device_id: device, account_uuid: "", session_id: id });
    await giveBudget(api, account, { usd: TOO_LITTLE, id: session("0a1b") });
    const send = (id: string) => {
      const body = withField(BODIES.messages, "metadata.user_id", id);
      return codeOf(api.postTo("/v1/messages?beta=true", account, body));
    };
    expect(await send(session("2c3d"))).toBe(CODE);
    expect(await send("user_5dd07c33_account__session_4e5f")).toBe(CODE);
    expect(await send(session("0a1b", "6ee18d44"))).not.toBe(CODE);
  });

  test("an id of a body may have any length and characters", async () => {
    const account = await opened("/v1");
    const long = "ä🙂".repeat(2_000);
    await giveBudget(api, account, { usd: TOO_LITTLE, id: long });
    const send = (user: string) =>
      codeOf(api.postTo("/v1/chat/completions", account, { ...BODIES.completions, user }));
    expect(await send(long)).toBe(CODE);
    expect(await send(`${long}x`)).not.toBe(CODE);
    expect(await send("\ud800")).not.toBe(CODE);
  });

  test.each(["x".repeat(END_USER_CHARACTERS_MAX + 1), "", "J\u00fcrgen"])(
    "the header '%s' is refused by name, and counts for nobody",
    async (id) => {
      const account = await limited("/v1");
      const init = { headers: { [HEADER]: id } };
      const reply = await api.postTo("/v1/chat/completions", account, BODIES.completions, init);
      expect([reply.status, await errorOf(reply)]).toMatchObject([
        400,
        { code: "invalid_parameter", message: expect.stringContaining(HEADER) },
      ]);
    },
  );
});

describe("a refusal by a budget of an end user", () => {
  test("names the binding budget, its rest and its renewal, and never the id", async () => {
    const account = await limited("/v1");
    const body = { ...BODIES.completions, user: ID };
    const reply = await api.postTo("/v1/chat/completions", account, body);
    expect(reply.status).toBe(402);
    expect(reply.headers.get("x-should-retry")).toBe("false");
    const error = await errorOf(reply);
    expect(error).toMatchObject({ code: CODE, type: "insufficient_quota" });
    expect(error.message).toMatch(
      /he budget of the UTC day of the end user has \$0\.000000001 left, and renews at 2\d{3}-/,
    );
    expect(error.message).not.toContain(ID);
    const [entry] = (await api.journal(account)).filter(({ type }) => type === "refused");
    expect(entry?.outcome).toContain("budget_day");
    expect(JSON.stringify(entry)).not.toContain(ID);
  });

  test("is the quote's too, which begins no count", async () => {
    const account = await limited("/v1");
    const path = "/v1/chat/completions";
    const quote = async (body: object, init: object = {}) => {
      const reply = await api.postTo("/v1/quote", account, { path, body }, init);
      return (await reply.json()) as { would_pass: boolean; refusal: { code: string } | null };
    };
    expect(await quote({ ...BODIES.completions, user: ID })).toMatchObject({
      would_pass: false,
      refusal: { code: CODE },
    });
    expect(await quote(BODIES.completions, HEADERS)).toMatchObject({ refusal: { code: CODE } });
    expect(await quote(BODIES.completions)).toMatchObject({ would_pass: true });
    const { sql } = api.parts.stores.database;
    expect(
      await sql`SELECT FROM end_user_counts c JOIN end_user_budgets b ON b.number = c.budget
      WHERE b.account = ${account.row.number}`,
    ).toHaveLength(0);
  });
});

describe("GET /v1/end-user", () => {
  const show = async (account: TestAccount, headers: Record<string, string>) => {
    const authorization = `Bearer ${account.key}`;
    const { url } = api.parts;
    const reply = await fetch(`${url}/v1/end-user`, { headers: { authorization, ...headers } });
    return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
  };

  test("shows the spending of an end user, and nothing of one that was never named", async () => {
    const account = await mail.api.account({ paid: "60" });
    await giveBudget(mail.api, account, { usd: "3" });
    await giveBudget(mail.api, account, { usd: "9", id: ID, span: "month" });
    expect((await mail.api.post(account, chatBody({ user: ID }))).status).toBe(200);
    const shown = async (id: string) => {
      const init = { headers: { authorization: `Bearer ${account.key}`, [HEADER]: id } };
      const reply = await fetch(`${mail.api.parts.url}/v1/end-user`, init);
      return (await reply.json()) as {
        id: string;
        budgets: { span: string; spent_usd: number }[];
      };
    };
    const mine = await shown(ID);
    expect(mine.id).toBe(endUserOf(account, ID).digests[0]);
    expect(mine.budgets).toMatchObject([
      { is_own: true, key: null, span: "month", amount_usd: 9, held_usd: 0 },
      { is_own: false, key: null, span: "day", amount_usd: 3, held_usd: 0 },
    ]);
    const { monthSpent } = await mail.api.view(account);
    expect(monthSpent).toBeGreaterThan(usd("0"));
    expect(mine.budgets.map(({ spent_usd }) => spent_usd)).toEqual(
      Array(2).fill(Number(monthSpent) / 1e9),
    );
    const other = await shown("somebody");
    expect(other.budgets).toMatchObject([{ span: "day", spent_usd: 0, started_at: null }]);
  });

  test.each(["/v1", "/api/v1"])("shows end users of an application at %s", async (base) => {
    const account = await opened("/api/v1");
    await giveBudget(api, account, { usd: "3" });
    const init = { headers: { authorization: `Bearer ${account.key}`, [HEADER]: ID } };
    const reply = await fetch(`${api.parts.url}${base}/end-user`, init);
    expect([reply.status, await reply.json()]).toMatchObject([
      200,
      { object: "end_user", budgets: [{ is_own: false, span: "day", amount_usd: 3 }] },
    ]);
  });

  test("needs the header, and shows no budgets where there are none", async () => {
    const account = await api.account({ paid: "5" });
    expect(await show(account, {})).toMatchObject({
      status: 400,
      body: { error: { code: "invalid_parameter" } },
    });
    expect(await show(account, { [HEADER]: ID })).toMatchObject({
      status: 200,
      body: { object: "end_user", budgets: [] },
    });
  });
});
