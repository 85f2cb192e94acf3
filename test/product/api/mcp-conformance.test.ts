// Runs the protocol's own conformance suite against /mcp. Its results are the table of docs/mcp.md.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import suite from "@modelcontextprotocol/conformance/package.json";
import { sharedApi } from "../../support/api/shared-api.ts";

const api = await sharedApi();
const page = readFileSync("docs/mcp.md", "utf8");
const SUITE = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
/** A line of the suite; the mark is another one if a check failed or warned. */
const RESULT = /^([✓✗]) ([\w-]+): (\d+) passed, /gm;
/** A row of the page: scenarios in code, then the result, then the reason. */
const ROW = /^\| (`[\w-]+`(?:, `[\w-]+`)*) +\| (passes|does not apply) +\|/gm;

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

/** The result of each scenario, as the page has it. */
function documented(): Readonly<Record<string, string>> {
  const rows = [...page.matchAll(ROW)];
  return Object.fromEntries(
    rows.flatMap(([, names = "", result = ""]) =>
      names.split(", ").map((name) => [name.slice(1, -1), result]),
    ),
  );
}

test("the conformance suite has the results of the documentation", async () => {
  const account = await api.account({ scopes: ["models", "search"], contract: "enterprise" });
  await using proxy = withKey(account.key);
  const url = `http://localhost:${proxy.port}/mcp`;
  const command = [process.execPath, SUITE, "server", "--url", url, "--suite", "all"];
  const running = Bun.spawn(command, { stdout: "pipe", stderr: "pipe" });
  const output = (await running.stdout.text()) + (await running.stderr.text());
  await running.exited;
  const results = [...output.matchAll(RESULT)].map(([, mark, name = "", passed]) => {
    const isPassed = mark === "✓" && Number(passed) > 0;
    return [name, isPassed ? "passes" : "does not apply"];
  });
  expect(Object.fromEntries(results), output).toEqual(documented());
  expect(page).toContain(`\`${suite.name}\` ${suite.version}`);
});
