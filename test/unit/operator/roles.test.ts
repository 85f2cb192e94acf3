// Tests who may call each endpoint of the operators' console: an operator with a second factor from
// an allowed address. For all other callers each path does not exist.

import { expect, test } from "bun:test";
import { CONSOLE, OPERATOR } from "../../../src/routes.ts";
import { ConsoleWorld, FOREIGN_ADDRESS } from "../../support/api/console-world.ts";
import { shared } from "../../support/shared.ts";

const operators = await shared(ConsoleWorld.startForOperators());
const { id: account } = await operators.account({ paid: "5" });

type Endpoint = (typeof OPERATOR)[number];

interface Caller {
  readonly who: string | null;
  readonly ip?: string;
  readonly origin?: string;
}

async function call({ method, path }: Pick<Endpoint, "method" | "path">, caller: Caller) {
  const { url } = operators.api.parts;
  const filled = path.replace("{account}", account).replaceAll(/\{\w+\}/g, "none");
  const response = await fetch(url + filled, {
    method,
    headers: {
      ...(caller.who !== null && { cookie: `session=${caller.who}` }),
      ...(caller.ip !== undefined && { "x-forwarded-for": caller.ip }),
      ...(method === "POST" && {
        "content-type": "application/json",
        origin: caller.origin ?? url,
      }),
    },
    ...(method === "POST" && { body: "{}" }),
  });
  const text = await response.text();
  const retry = response.headers.get("x-should-retry");
  return { status: response.status, text, code: /"code":"(\w+)"/.exec(text)?.[1], retry };
}

const ROWS = OPERATOR.map((one) => [`${one.method} ${one.path}`, one] as const);

test("no endpoint of operators is one of the console, and each requires an operator", () => {
  const names = new Set(CONSOLE.map(({ id }) => id));
  expect(OPERATOR.filter(({ id }) => names.has(id)).map(({ id }) => id)).toEqual([]);
  expect(OPERATOR.filter(({ access }) => access !== "operator")).toEqual([]);
  expect(new Set(OPERATOR.map(({ id }) => id)).size).toBe(OPERATOR.length);
});

test.each(ROWS)("%s does not exist for visitors, people and owners", async (_, endpoint) => {
  const { method, path } = endpoint;
  // Too unlike any other path for a suggestion.
  const known = path.replace("{account}", account).replaceAll(/\{\w+\}/g, "none");
  for (const who of [null, "stranger", "viewer", "owner"]) {
    const answer = await call(endpoint, { who });
    expect([who, answer.status, answer.code]).toEqual([who, 404, "not_found"]);
    expect(answer.text).toContain(`There is no ${method} ${known.slice(0, 40)}`);
    expect(answer.text).not.toContain("Did you mean GET /console/operator");
  }
});

test("a path of operators and an unknown path are refused in the same words", async () => {
  const { text } = await call({ method: "GET", path: "/console/operator/trail" }, { who: "owner" });
  const missing = await call({ method: "GET", path: "/console/operator/trial" }, { who: "owner" });
  expect(missing.text.replace("trial", "trail")).toBe(text);
  // The wrong method reveals no more.
  const method = await call({ method: "POST", path: "/console/operator/trail" }, { who: "owner" });
  expect([method.status, method.code]).toEqual([404, "not_found"]);
});

test.each(ROWS)("%s is refused to operators without a second factor", async (_, endpoint) => {
  const answer = await call(endpoint, { who: "operator_without_factor" });
  expect([answer.status, answer.code]).toEqual([403, "second_factor_required"]);
});

test.each(ROWS)("%s is refused to operators from another address", async (_, endpoint) => {
  const answer = await call(endpoint, { who: "operator", ip: FOREIGN_ADDRESS });
  expect([answer.status, answer.code]).toEqual([403, "operator_address"]);
});

test("no refusal of a caller is tried again", async () => {
  const endpoint = { method: "GET", path: "/console/operator/trail" } as const;
  for (const caller of [
    { who: null },
    { who: "owner" },
    { who: "operator_without_factor" },
    { who: "operator", ip: FOREIGN_ADDRESS },
  ]) {
    const { status, retry } = await call(endpoint, caller);
    expect([caller, status < 500, retry]).toEqual([caller, true, "false"]);
  }
});

test.each(ROWS)("%s exists for an operator", async (_, endpoint) => {
  const answer = await call(endpoint, { who: "operator" });
  const refusals = ["not_signed_in", "role_required", "operator_address", "second_factor_required"];
  expect(refusals).not.toContain(answer.code ?? "");
  expect(answer.status).toBeLessThan(500);
  expect(answer.text).not.toContain(`There is no ${endpoint.method}`);
});

test.each(ROWS.filter(([, { method }]) => method === "POST"))(
  "%s is refused to a foreign page, and without an id and a reason",
  async (_, endpoint) => {
    const foreign = await call(endpoint, { who: "operator", origin: "https://evil.example" });
    expect([foreign.status, foreign.code]).toEqual([403, "foreign_origin"]);
    const empty = await call(endpoint, { who: "operator" });
    expect([empty.status, empty.code]).toEqual([400, "invalid_parameter"]);
    expect(empty.text).toMatch(/\bid\b/);
  },
);
