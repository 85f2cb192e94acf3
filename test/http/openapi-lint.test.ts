// The stored OpenAPI documents have no fault that Redocly's recommended rules know.

import { expect, test } from "bun:test";
import { join } from "node:path";

interface Problem {
  readonly ruleId: string;
  readonly severity: string;
  readonly message: string;
  readonly location: readonly { readonly pointer?: string }[];
}

/** The part of the linter that is used. */
interface Linter {
  createConfig(options: object): Promise<unknown>;
  lint(options: { readonly ref: string; readonly config: unknown }): Promise<readonly Problem[]>;
}

const PACKAGE = "@redocly/openapi-core";
const DOCS = join(import.meta.dir, "../../docs");

const linter: Linter | null = await import(PACKAGE).catch(() => null);

for (const file of ["openapi.json", "openapi-application.json"]) {
  test.skipIf(linter === null)(`docs/${file} passes the linter`, async () => {
    if (linter === null) return;
    const config = await linter.createConfig({
      extends: ["recommended"],
      // A health check answers nobody's fault.
      rules: { "operation-4xx-response": "off" },
    });
    const problems = await linter.lint({ ref: join(DOCS, file), config });
    const told = problems.map(({ ruleId, message, location }) => {
      return `${ruleId} at ${location[0]?.pointer}: ${message}`;
    });
    expect(told).toEqual([]);
  });
}
