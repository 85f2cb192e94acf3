// The stored OpenAPI documents have no fault that Redocly's recommended rules know.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { createConfig, lint } from "@redocly/openapi-core";

const DOCS = join(import.meta.dir, "../../../docs");

for (const file of [
  "openapi.json",
  "openapi-application.json",
  "openapi-console.json",
  "openapi-operator.json",
]) {
  test(`docs/${file} passes the linter`, async () => {
    const config = await createConfig({
      extends: ["recommended"],
      // A health check answers nobody's fault.
      rules: { "operation-4xx-response": "off" },
    });
    const problems = await lint({ ref: join(DOCS, file), config });
    const told = problems.map(({ ruleId, message, location }) => {
      return `${ruleId} at ${location[0]?.pointer}: ${message}`;
    });
    expect(told).toEqual([]);
  });
}
