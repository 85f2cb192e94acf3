// Runs the protocol's own conformance suite against /mcp.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { sharedApi } from "../../support/api/shared-api.ts";

const api = await sharedApi();
const SUITE = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
const BASE = new URL("./mcp-conformance.yml", import.meta.url).pathname;
/** Scenarios that must pass: the handshake, the list of tools, and protection. */
const PASSING = [
  "server-initialize",
  "ping",
  "tools-list",
  "tools-call-error",
  "dns-rebinding-protection",
];

/** A proxy in front of the API that adds a key, since the suite can send none; it keeps Host. */
function withKey(key: string) {
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const headers = new Headers(request.headers);
      headers.set("authorization", `Bearer ${key}`);
      const { method, body } = request;
      return fetch(`${api.parts.url}/mcp`, { method, headers, body });
    },
  });
}

test("the conformance suite passes where it applies", async () => {
  const account = await api.account({ scopes: ["models", "search"], contract: "enterprise" });
  await using proxy = withKey(account.key);
  const url = `http://localhost:${proxy.port}/mcp`;
  const command = [process.execPath, SUITE, "server", "--url", url, "--expected-failures", BASE];
  const suite = Bun.spawn(command, { stdout: "pipe", stderr: "pipe" });
  const output = (await suite.stdout.text()) + (await suite.stderr.text());
  expect(await suite.exited, output).toBe(0);
  for (const scenario of PASSING) expect(output).toMatch(new RegExp(`✓ ${scenario}: [1-9]`));
  expect(readFileSync(BASE, "utf8")).not.toMatch(new RegExp(`- (?:${PASSING.join("|")})$`, "m"));
});
