import { describe, expect, test } from "bun:test";
import { appAlone } from "../../support/api/app-alone.ts";
import { expectRefusal } from "../../support/api/expect-refusal.ts";

const api = appAlone();

describe("routes", () => {
  test("that do not exist are 404, and wrong methods 405 with Allow", async () => {
    await expectRefusal(await api.get("/v1/nothing"), "not_found");
    await expectRefusal(await api.get("/"), "not_found");
    for (const [path, method, allow] of [
      ["/v1/models", "PUT", "GET, HEAD"],
      ["/v1/models?x=1", "POST", "GET, HEAD"],
      ["/v1/me", "DELETE", "GET, HEAD"],
      ["/v1/chat/completions", "GET", "POST"],
      ["/v1/chat/completions", "PATCH", "POST"],
    ] as const) {
      const response = await api.request(method, path);
      await expectRefusal(response, "method_not_allowed");
      expect(response.headers.get("allow")).toBe(allow);
    }
  });

  test("answer OPTIONS without any CORS header, since keys belong in backends", async () => {
    const response = await api.request("OPTIONS", "/v1/chat/completions", {
      headers: { origin: "https://x.test", "access-control-request-method": "POST" },
    });
    await expectRefusal(response, "method_not_allowed");
    expect([...response.headers.keys()].join()).not.toContain("access-control");
  });
});
