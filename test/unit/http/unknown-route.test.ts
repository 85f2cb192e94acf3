import { describe, expect, test } from "bun:test";
import { noEndpoint } from "../../../src/http/unknown-route.ts";
import { APPLICATION, CONSOLE, GATEWAY, OPERATOR, PROGRAM } from "../../../src/routes.ts";

const GATEWAY_ROUTES = [...GATEWAY, ...PROGRAM];

describe("the refusal of a path without an endpoint names the endpoint that was meant", () => {
  const cases: readonly (readonly [method: string, path: string, meant: string | null])[] = [
    ["POST", "/v1/response", "POST /v1/responses"],
    ["POST", "/v1/completion", "POST /v1/completions"],
    ["POST", "/v1/v1/chat/completions", "POST /v1/chat/completions"],
    ["GET", "/v1/model", "GET /v1/models"],
    ["GET", "/v1/models/", "GET /v1/models"],
    ["POST", "/v1/serach", "POST /v1/search"],
    ["GET", "/v1/mail/message/msg_1", "GET /v1/mail/messages/{id}"],
    ["GET", "/v1/somewhere/else/entirely", null],
    ["GET", `/${"a".repeat(10_000)}`, null],
    ["GET", "/", null],
  ];
  for (const [method, path, meant] of cases) {
    test(`${method} ${path.slice(0, 40)}: ${meant ?? "nothing is like it"}`, () => {
      const { code, message } = noEndpoint(GATEWAY_ROUTES, { method, path });
      expect(code).toBe("not_found");
      expect(message).toStartWith(`There is no ${method} ${path.slice(0, 100)}`);
      expect(message).toEndWith("The documentation is at /docs");
      if (meant === null) expect(message).not.toContain("Did you mean");
      else expect(message).toContain(`Did you mean ${meant}?`);
      expect(message.length).toBeLessThan(800);
    });
  }

  test("and of a hostile path, only as much is read as an endpoint can have", () => {
    // Splitting it for each endpoint would take minutes, beyond the time of a test.
    const path = "/".repeat(40_000_000);
    const { code } = noEndpoint([...GATEWAY, ...PROGRAM, ...CONSOLE, ...OPERATOR], {
      method: "GET",
      path,
    });
    expect(code).toBe("not_found");
  });

  test.each([
    [
      "POST",
      "/v1/responses/resp_1/cancel",
      "/v1/responses",
      "/v1/responses, /v1/responses/input_tokens",
    ],
    ["GET", "/v1/mail/domains", "/v1/mail", "/v1/mail/send, /v1/mail/messages/{id}"],
    ["POST", "/v1/fine_tuning/jobs", "/v1", "/v1/models, /v1/models/{id}, /v1/chat/completions, "],
    ["POST", "/api/v1/fine_tuning/jobs", "/api/v1", "/api/v1/chat/completions, /api/v1/messages, "],
  ])("or else those near it: %s %s", (method, path, below, paths) => {
    const routes = path.startsWith("/api") ? APPLICATION : GATEWAY_ROUTES;
    const { message } = noEndpoint(routes, { method, path });
    expect(message).toStartWith(`There is no ${method} ${path}. Below ${below} there are ${paths}`);
    expect(message).not.toContain("/console");
  });

  test("or the only one near it", () => {
    const { message } = noEndpoint(GATEWAY_ROUTES, { method: "GET", path: "/v1/maps/berlin" });
    expect(message).toBe(
      "There is no GET /v1/maps/berlin. There is /v1/maps. The documentation is at /docs",
    );
  });

  test("of its own surface", () => {
    const { message } = noEndpoint(APPLICATION, { method: "GET", path: "/api/v1/model" });
    expect(message).toContain("Did you mean GET /api/v1/models?");
  });

  test.each([
    ["POST", "/api/v1/search", "/v1/search"],
    ["POST", "/api/v1/search/batch", "/v1/search/batch"],
    ["GET", "/api/v1/maps", "/v1/maps"],
    ["GET", "/api/v1/mail/messages/msg_1", "/v1/mail/messages/{id}"],
  ])("or the Gateway's endpoint that the Application API lacks: %s %s", (method, path, own) => {
    const { message } = noEndpoint(APPLICATION, { method, path, gateway: GATEWAY });
    expect(message).toStartWith(
      `There is no ${method} ${path}: only the Gateway has it, at ${own},`,
    );
  });

  test("but a path that is often mistaken for one of its own surface gets that", () => {
    const asked = { method: "POST", path: "/api/v1/completions", gateway: GATEWAY };
    const { message } = noEndpoint(APPLICATION, asked);
    expect(message).toContain("Did you mean POST /api/v1/chat/completions?");
  });

  test("and a slash at its end is named", () => {
    const { message } = noEndpoint(GATEWAY_ROUTES, { method: "GET", path: "/v1/me/" });
    expect(message).toStartWith("There is no GET /v1/me/, which ends with a slash.");
  });
});

test("a method that a path lacks gets those it has; HEAD of a paid call is not offered", () => {
  const allowed = (path: string) => noEndpoint(GATEWAY_ROUTES, { method: "PUT", path }).allow;
  expect(allowed("/v1/me")).toBe("GET, HEAD");
  expect(allowed("/v1/mail/messages/msg_1")).toBe("GET, HEAD");
  expect(allowed("/v1/maps")).toBe("GET");
  expect(allowed("/v1/chat/completions")).toBe("POST");
});
