// Tests of the errors of endpoints, for both surfaces: each code that an endpoint documents, with
// its status, the form of its body and the headers that clients decide by.

import { afterEach, describe, expect, test } from "bun:test";
import type { AccountActors, Asking, Decision } from "../../../actors/account.ts";
import { TIERS } from "../../../src/core/access/limits.ts";
import { SERVICES } from "../../../src/core/access/services.ts";
import { ApiError, ERRORS, type ErrorCode } from "../../../src/core/errors.ts";
import { ZERO } from "../../../src/core/money/money.ts";
import { type DocumentedEndpoint, errorsOf } from "../../../src/http/endpoint-errors.ts";
import { shared } from "../shared.ts";
import { ApiWorld, errorOf, until } from "./api-world.ts";
import { ErrorDoor, type ErrorWorlds, QuoteDoor } from "./error-door.ts";
import { EXAMPLE_CATALOGUE } from "./example-models.ts";
import { ERROR_CASES, type Retry } from "./provoke-errors.ts";

/** The type of each status at the endpoints of Anthropic's form. */
const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  409: "conflict_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  502: "overloaded_error",
  503: "overloaded_error",
};

type Form = "gateway" | "OpenAI" | "Anthropic";

function formOf({ path }: DocumentedEndpoint): Form {
  if (/^(?:\/api)?\/v1\/messages/.test(path)) return "Anthropic";
  return path.startsWith("/api/") || path.startsWith("/v1/responses") ? "OpenAI" : "gateway";
}

/** `param`: the field at fault, or null. */
function bodyIn(form: Form, code: ErrorCode, param: unknown): object {
  const { status, type } = ERRORS[code];
  const message = expect.any(String);
  if (form === "gateway") return { error: { type, code, message } };
  if (form === "OpenAI") return { error: { message, type, code, param } };
  const own = ANTHROPIC_TYPES[status] ?? "invalid_request_error";
  const request_id = expect.stringMatching(/^req_\w{22}$/);
  return { type: "error", error: { type: own, message, code }, request_id };
}

interface Expected {
  readonly endpoint: DocumentedEndpoint;
  readonly code: ErrorCode;
  readonly retry: Retry;
}

/** Checks an answer against its code. */
export async function expectError(
  { endpoint, code, retry }: Expected,
  response: Response,
): Promise<void> {
  const body = (await response.json()) as { readonly error: { readonly param?: unknown } };
  const { param } = body.error;
  expect<object>(body).toEqual(bodyIn(formOf(endpoint), code, param));
  expect(param ?? "").toBeString();
  const { headers, status } = response;
  expect(status).toBe(ERRORS[code].status);
  expect({
    retry: headers.get("x-should-retry"),
    waits: Number(headers.get("retry-after")) >= 1,
    challenge: headers.get("www-authenticate"),
    cost: headers.get("x-svc-cost-usd"),
  }).toEqual({
    retry: retry === "false" ? "false" : retry === "true + wait" ? "true" : null,
    waits: retry.endsWith("wait"),
    challenge: status === 401 ? "Bearer" : null,
    cost: "0",
  });
  expect(headers.get("x-request-id")).toMatch(/^req_\w{22}$/);
  expect(headers.get("x-ratelimit-limit-requests")).toMatch(/^\d+$/);
  expect(headers.get("x-ratelimit-remaining-requests")).toMatch(/^\d+$/);
  expect(headers.get("x-ratelimit-reset-requests")).toMatch(/^\d+s$/);
}

/** Codes of paths, which no endpoint documents. */
const OF_PATHS: readonly ErrorCode[] = ["not_found", "method_not_allowed"];

/** The codes that an endpoint can answer. */
export function codesOf(endpoint: DocumentedEndpoint): readonly ErrorCode[] {
  const codes = new Set([...OF_PATHS, ...errorsOf(endpoint)]);
  return [...codes].filter((code) => canOccur(endpoint, code));
}

/** True for a code that the endpoint can answer; the documentation names it for all of a kind. */
function canOccur({ service, hasOpenEnd, path }: DocumentedEndpoint, code: ErrorCode): boolean {
  switch (code) {
    case "tier_required":
      // The lowest tier has chat.
      return service !== null && !TIERS[0]?.services.includes(SERVICES[service].scope);
    case "not_found":
      // A path below is the id of a model.
      return hasOpenEnd !== true && !path.endsWith("/models");
    case "search_unavailable":
      // At a response only where it forces a search (web-search-limits.test.ts).
      return !path.endsWith("/responses");
    default:
      return true;
  }
}

/** Tests each code at each of these endpoints. */
export function testErrors(worlds: ErrorWorlds, endpoints: readonly DocumentedEndpoint[]): void {
  const { api } = worlds.mail;
  afterEach(() => until(() => api.openCalls === 0, "every hold was resolved"));

  /** The endpoint, or the call that it quotes where the code is that of the call. */
  const doorTo = (endpoint: DocumentedEndpoint, code: ErrorCode): ErrorDoor => {
    if (!endpoint.path.endsWith("/quote") || !endpoint.errors.includes(code)) {
      return new ErrorDoor(worlds, endpoint);
    }
    const quoted = endpoints.find((one) => one.isBilled && codesOf(one).includes(code));
    if (quoted === undefined) throw new Error(`No call answers ${code}`);
    return new QuoteDoor(worlds, quoted, endpoint);
  };

  for (const endpoint of endpoints) {
    describe(`${endpoint.method} ${endpoint.path} answers`, () => {
      for (const code of codesOf(endpoint)) {
        test(`${code} in its form, with the headers of the code`, async () => {
          const [retry, provoke] = ERROR_CASES[code];
          const response = await provoke(doorTo(endpoint, code));
          await expectError({ endpoint, code, retry }, response);
        });
      }
    });
  }
}

/** Accounts whose calls are refused because an automatic top-up has not yet paid for them. */
export function accountsToppingUp(actors: Pick<AccountActors, "of">): AccountActors {
  const short = { spendable: ZERO };
  const error = new ApiError("insufficient_credits", "An automatic top-up is under way", {
    retryAfterSeconds: 5,
  });
  const rate = { limit: 20, remaining: 19, resetSeconds: 60 };
  const refused: Decision = { verdict: "refused", error, rate, funds: short };
  const admit = async ({ terms: { tentative } }: Asking): Promise<Decision> =>
    tentative === true ? { verdict: "short", funds: short } : refused;
  return {
    of(id, bucket) {
      const account = actors.of(id, bucket);
      return {
        admit,
        quote: (asking) => account.quote(asking),
        endResponse: () => Promise.resolve(),
        view: (keyId) => account.view(keyId),
        viewFor: (call) => account.viewFor(call),
        modelsOf: (keyId) => account.modelsOf(keyId),
      };
    },
    refusesUnread: () => false,
  };
}

/** Tests that a call of each of these endpoints says when a top-up under way may have paid. */
export function testTopUps(worlds: ErrorWorlds, endpoints: readonly DocumentedEndpoint[]): void {
  describe("while a top-up is under way, a call without credit says when to retry at", () => {
    const toppingUp = shared(
      ApiWorld.start(({ actors }) => ({
        catalogue: () => EXAMPLE_CATALOGUE,
        accounts: accountsToppingUp(actors),
      })),
    );

    for (const endpoint of endpoints.filter(({ isBilled }) => isBilled)) {
      test(endpoint.path, async () => {
        const to = await toppingUp;
        const door = new ErrorDoor(worlds, endpoint);
        const response = await door.send(await door.open({}, to), { to });
        const { message } = await errorOf(response.clone() as Response);
        expect(message).toEndWith("An automatic top-up is under way");
        await expectError(
          { endpoint, code: "insufficient_credits", retry: "true + wait" },
          response,
        );
      });
    }
  });
}
