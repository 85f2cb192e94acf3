import { describe, expect, test } from "bun:test";
import type { Membership, People, SignedIn } from "../../src/http/people.ts";
import { appAlone, consoleAlone } from "../support/app-alone.ts";

const PERSON: SignedIn = {
  personId: "person_1",
  email: "ada@example.com",
  name: "Ada",
  isOperator: false,
  hasTwoFactor: false,
  isBySso: false,
  sessionId: "session_1",
  provedAtMs: 0,
};

/** Whoever sends this cookie is Ada; she belongs to no account. */
const people: People = {
  signedIn: async (headers) => (headers.get("cookie") === "session=ada" ? PERSON : null),
  membership: async (): Promise<Membership | null> => null,
  hasSession: async () => false,
  roleIn: async () => null,
  isOperatorIn: async () => false,
};

const app = appAlone({ console: consoleAlone(people) });

interface Body {
  readonly error?: { readonly code: string };
  readonly models?: readonly unknown[];
}

async function get(path: string, headers: Record<string, string> = {}) {
  const response = await app.get(path, headers);
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Body,
  };
}

describe("the console's frame", () => {
  test("answers nobody without a session", async () => {
    const { status, body } = await get("/console/api/models");
    expect(status).toBe(401);
    expect(body.error?.code).toBe("not_signed_in");
  });

  test("an API key is no session", async () => {
    const authorization = "Bearer svc_live_7n42DGM5Tflk9n8mt7Fhc7";
    expect((await get("/console/api/models", { authorization })).status).toBe(401);
  });

  test("answers a person, and caches must not keep it", async () => {
    const { status, headers, body } = await get("/console/api/models", { cookie: "session=ada" });
    expect(status).toBe(200);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-request-id")).toMatch(/^req_/);
    expect(body.models).not.toBeEmpty();
  });
});
