import { describe, expect, test } from "bun:test";
import {
  CONSOLE_ERRORS,
  ConsoleError,
  type ConsoleErrorCode,
} from "../../../src/core/console-errors.ts";
import {
  ADMINISTRATION_ERRORS,
  AdministrationError,
  type AdministrationErrorCode,
  ApiError,
  ERRORS,
  type ErrorCode,
} from "../../../src/core/errors.ts";
import type { Membership, People, SignedIn } from "../../../src/http/console/people.ts";
import { appAlone, consoleAlone } from "../../support/api/app-alone.ts";
import { FakeClock } from "../../support/fakes/fake-clock.ts";

const PERSON: SignedIn = {
  personId: "person_1",
  email: "ada@example.com",
  name: "Ada",
  isOperator: false,
  hasTwoFactor: false,
  isStrong: false,
  isBySso: false,
  sessionId: "session_1",
  provedAtMs: 0,
};

/** A request with one of these cookies comes from Ada; she belongs to no account. */
const people: People = {
  signedIn: async (headers) => {
    const [, of] = /^session=ada(\d*)$/.exec(headers.get("cookie") ?? "") ?? [];
    return of === undefined ? null : { ...PERSON, sessionId: `session_${of}` };
  },
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
  test("gives no answer without a session", async () => {
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

  test("counts a person's requests in all sessions, before a body is read", async () => {
    const clock = new FakeClock();
    const limited = appAlone({ console: consoleAlone(people), clock });
    let sessions = 0;
    const ask = (path: string, init: RequestInit = {}) => {
      sessions += 1;
      return limited.request(init.method ?? "GET", `/console/api${path}`, {
        ...init,
        headers: {
          cookie: `session=ada${sessions}`,
          origin: "http://127.0.0.1",
          "content-type": "application/json",
        },
      });
    };
    const estimate = () => {
      const body = new ReadableStream({ pull: () => new Promise(() => {}) });
      return ask("/accounts/acct_1/playground/estimate", { method: "POST", body });
    };
    for (let sent = 0; sent < 300; sent += 1) expect((await estimate()).status).toBe(404);
    const refused = await estimate();
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeWithin(1, 61);
    expect((await ask("/models")).status).toBe(429);
    clock.advance(60_000);
    expect((await ask("/models")).status).toBe(200);
  });
});

describe("a refusal of the console says whether a retry helps", () => {
  const FINAL = [401, 402, 403, 404, 409, 422, 429];
  const words = "Not now";
  const refusals: readonly (readonly [string, Error & { readonly status: number }])[] = [
    ...(Object.keys(CONSOLE_ERRORS) as ConsoleErrorCode[]).map(
      (code) => [code, new ConsoleError(code, words)] as const,
    ),
    ...(Object.keys(ADMINISTRATION_ERRORS) as AdministrationErrorCode[]).map(
      (code) => [code, new AdministrationError(code, words)] as const,
    ),
    ...(Object.keys(ERRORS) as ErrorCode[]).map(
      (code) => [code, new ApiError(code, words)] as const,
    ),
  ];
  const refusing = (error: Error) =>
    appAlone({ console: consoleAlone({ ...people, signedIn: () => Promise.reject(error) }) });

  test.each(refusals)("%s", async (code, error) => {
    const { status, headers } = await refusing(error).get("/console/api/models");
    expect(status).toBe(error.status);
    expect(headers.get("x-should-retry")).toBe(FINAL.includes(status) ? "false" : null);
    expect([code, headers.get("retry-after")]).toEqual([code, null]);
  });

  test("where waiting helps, with the seconds to wait", async () => {
    const charging = new ApiError("insufficient_credits", words, { retryAfterSeconds: 4.2 });
    const attempts = new ConsoleError("too_many_attempts", words, 60);
    for (const [error, retry, seconds] of [
      [charging, "true", "5"],
      [attempts, null, "60"],
    ] as const) {
      const { headers } = await refusing(error).get("/console/api/models");
      expect(headers.get("x-should-retry")).toBe(retry);
      expect(headers.get("retry-after")).toBe(seconds);
    }
  });
});
