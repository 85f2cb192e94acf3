// Tests headers that every answer has, whoever the caller is. The tests of the API and of the
// console hold each of their answers to the same rules (`mustBeGuarded`): replies, bytes, streams
// and refusals.

import { describe, expect, test } from "bun:test";
import type { People } from "../../../src/http/console/people.ts";
import { APPLICATION, CONSOLE, GATEWAY, OPERATOR, PROGRAM } from "../../../src/routes.ts";
import { appAlone, consoleAlone } from "../../support/api/app-alone.ts";
import { mustBeGuarded } from "../../support/api/contract.ts";

const nobody: People = {
  signedIn: async () => null,
  membership: async () => null,
  hasSession: async () => false,
  roleIn: async () => null,
  isOperatorIn: async () => false,
};
const app = appAlone({ console: consoleAlone(nobody), docsTryIt: true });

const CALLERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "without a key": {},
  "with a wrong key": { authorization: "Bearer svc_live_7n42DGM5Tflk9n8mt7Fhc7" },
  "with a cookie": { cookie: "session=nobody" },
};

describe("no cache may keep and no browser misread an answer to", () => {
  for (const { method, path } of [
    ...GATEWAY,
    ...APPLICATION,
    ...PROGRAM,
    ...CONSOLE,
    ...OPERATOR,
    { method: "GET", path: "/nothing" },
    { method: "PUT", path: "/v1/models" },
  ]) {
    test(`${method} ${path}`, async () => {
      for (const headers of Object.values(CALLERS)) {
        const body = method === "GET" ? {} : { body: "{" };
        const response = await app.request(method, path.replaceAll(/[{}]/g, ""), {
          headers,
          method,
          ...body,
        });
        mustBeGuarded(method, path, response);
      }
    });
  }
});

test("no page of another site may frame the documentation", async () => {
  for (const path of ["/docs", "/docs/api", "/docs/clients"]) {
    const { headers } = await app.get(path);
    const policy = headers.get("content-security-policy")?.split("; ") ?? [];
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("base-uri 'none'");
  }
});
