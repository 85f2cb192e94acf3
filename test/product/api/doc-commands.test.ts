// Tests that the calls and programs in the pages for callers work as they stand, with the address,
// the key and the ids of a running service in place of those of the page.

import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { PROJECT } from "../../../scripts/local/home.mjs";
import { SCOPES } from "../../../src/core/access/services.ts";
import { catalogueOf } from "../../../src/settings/catalogue.ts";
import { chatBody, completionOf } from "../../support/api/api-world.ts";
import { MODEL } from "../../support/api/models.ts";
import { sharedMail } from "../../support/api/shared-api.ts";
import { ANY_SERVICE, commandsOf, docBlocks, isCall } from "../../support/doc-blocks.ts";
import { sharedFolder } from "../../support/shared.ts";

/** The models that pages name. */
const catalogue = catalogueOf(
  [
    MODEL,
    { ...MODEL, id: "swift-1" },
    { ...MODEL, id: "farebox-guide" },
    { ...MODEL, id: "vectors-1", serves: "embedding" },
    { ...MODEL, id: "ranks-1", serves: "rerank" },
  ],
  [],
);
const { api } = await sharedMail({ catalogue: () => catalogue });
const folder = sharedFolder("commands");
const gateway = await api.account({ contract: "enterprise", paid: "100", scopes: SCOPES });
const application = await api.account({ surface: "application", plan: "max", paid: "9" });

/** A text of a page for this service. */
function here(text: string): string {
  return text
    .replaceAll(ANY_SERVICE, api.parts.url)
    .replaceAll("svc_live_…", gateway.key)
    .replaceAll("svc_sk_…", application.key);
}

async function run(command: readonly string[], input: string, cwd: string) {
  const child = Bun.spawn([...command], {
    cwd,
    env: { ...process.env, KEY: gateway.key },
    stdin: Buffer.from(input),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, problems] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { exitCode: await child.exited, out, problems };
}

describe.skipIf(Bun.which("curl") === null)("the call", () => {
  const calls = docBlocks().flatMap((block) =>
    commandsOf(block)
      .filter(isCall)
      .map((command) => [`${block.page}:${block.line} ${command.slice(0, 90)}`, command] as const),
  );

  test("stands in many pages", () => expect(calls.length).toBeGreaterThan(10));

  test.each(calls)("%s is answered with a success", async (_, command) => {
    const script = `curl() { command curl -sS --fail-with-body "$@"; }\n${here(command)}\n`;
    const { exitCode, out, problems } = await run(["sh"], await withRealIds(script), folder);
    expect({ exitCode, problems, ...(exitCode !== 0 && { out }) }).toEqual({
      exitCode: 0,
      problems: "",
    });
  });
});

/** A receipt is of a call that was made. */
async function withRealIds(script: string): Promise<string> {
  if (!script.includes("/v1/receipts/")) return script;
  const { svc } = await completionOf(await api.post(gateway, chatBody()));
  await api.parts.stores.flush();
  return script.replaceAll(/req_\w+/g, svc.request_id);
}

describe("the program", () => {
  const programs = docBlocks().filter(
    ({ info, text }) => info === "js" && text.includes(ANY_SERVICE),
  );

  test("stands in pages", () => expect(programs.length).toBeGreaterThan(1));

  test.each(programs.map((block) => [block.page, block.text] as const))(
    "of %s runs and prints what the call cost",
    async (_, text) => {
      const { exitCode, out, problems } = await run(
        [process.execPath, "run", "-"],
        here(text),
        join(PROJECT),
      );
      expect({ exitCode, problems }).toEqual({ exitCode: 0, problems: "" });
      expect(out.length).toBeGreaterThan(1);
    },
  );
});
