// Tests the programs of docs/webhooks.md, which customers copy: they accept our deliveries, and
// refuse all else.

import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "../../../scripts/local/home.mjs";
import { newWebhookSecret, webhookHeaders } from "../../../src/core/webhooks/webhook-signature.ts";
import { random } from "../../support/random.ts";
import { sharedFolder } from "../../support/shared.ts";

const page = readFileSync(join(PROJECT, "docs/webhooks.md"), "utf8");
const folder = sharedFolder("webhook-examples");

function exampleIn(language: string): string {
  const block = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1];
  if (block === undefined) throw new Error(`The page has no example in ${language}`);
  return block;
}

const [old, current] = [newWebhookSecret(random), newWebhookSecret(random)];
const body = '{"id":"evt_1","größe":"½"}';
const at = new Date();
const headers = webhookHeaders({ id: "evt_1", at, body }, [current, old]);
const late = webhookHeaders({ id: "evt_1", at: new Date(at.getTime() - 301_000), body }, [current]);
const foreign = newWebhookSecret(random);
const alone = { ...headers, "webhook-signature": (headers["webhook-signature"] ?? "").slice(3) };

const CASES = [
  ["the secret", current, headers, body, true],
  ["the secret before it", old, headers, body, true],
  ["another secret", foreign, headers, body, false],
  ["a changed body", current, headers, `${body} `, false],
  ["another id", current, { ...headers, "webhook-id": "evt_2" }, body, false],
  ["a request of six minutes ago", current, late, body, false],
  [
    "a signature without its version",
    current,
    { ...alone, "webhook-signature": "abc" },
    body,
    false,
  ],
] as const;

const EXPECTED = CASES.map(([what, , , , isOurs]) => [what, isOurs]);
writeFileSync(join(folder, "cases.json"), JSON.stringify(CASES));

async function answersOf(command: readonly string[]): Promise<unknown> {
  const child = Bun.spawn([...command], { cwd: folder, stdout: "pipe", stderr: "inherit" });
  return JSON.parse(await new Response(child.stdout).text());
}

test("the example in JavaScript tells our requests from others", async () => {
  writeFileSync(join(folder, "verify.mjs"), exampleIn("js"));
  writeFileSync(
    join(folder, "run.mjs"),
    `import { readFileSync } from "node:fs";
    import { isGenuine } from "./verify.mjs";
    const cases = JSON.parse(readFileSync("cases.json", "utf8"));
    console.log(JSON.stringify(cases.map(([what, secret, headers, body]) =>
      [what, isGenuine(secret, headers, body)])));`,
  );
  expect(await answersOf(["node", "run.mjs"])).toEqual(EXPECTED);
});

test.skipIf(Bun.which("python3") === null)(
  "the example in Python tells our requests from others",
  async () => {
    writeFileSync(join(folder, "verify.py"), exampleIn("python"));
    writeFileSync(
      join(folder, "run.py"),
      [
        "import json",
        "from verify import is_genuine",
        "with open('cases.json', encoding='utf-8') as file: cases = json.load(file)",
        "print(json.dumps([[what, is_genuine(secret, headers, body.encode())]",
        "  for what, secret, headers, body, _ in cases]))",
      ].join("\n"),
    );
    expect(await answersOf(["python3", "run.py"])).toEqual(EXPECTED);
  },
);
