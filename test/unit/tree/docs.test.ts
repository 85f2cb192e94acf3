// Checks that the documentation made from the code is the stored one.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { generatedDocs, PROJECT } from "../../../scripts/docs/generated-docs.ts";

// The formatter lays out JSON and tables in its own way.
const words = (text: string) => text.replaceAll(/\s/g, "").replaceAll(/-{3,}/g, "---");

for (const [path, text] of await generatedDocs()) {
  test(`${path} is fresh; npm run docs makes it so`, async () => {
    expect(words(await Bun.file(join(PROJECT, path)).text())).toBe(words(text));
  });
}
