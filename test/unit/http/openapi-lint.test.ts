// Tests that the stored OpenAPI documents have no fault by Redocly's recommended rules.

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
      // A health check has no client errors.
      rules: { "operation-4xx-response": "off" },
    });
    const problems = await lint({ ref: join(DOCS, file), config });
    const told = problems.map(({ ruleId, message, location }) => {
      return `${ruleId} at ${location[0]?.pointer}: ${message}`;
    });
    expect(told).toEqual([]);
  });
}
