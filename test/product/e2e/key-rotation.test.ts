// Tests replacing KEY_PEPPER on a running product: no customer's key is lost on the way, the id of
// an item is valid as long as the secret that sealed it, and no wrong step starts a process.

import { expect, test } from "bun:test";
import { keyDigest } from "../../../src/core/access/keys.ts";
import { eventually } from "../../support/eventually.ts";
import { SECRETS, startProduct } from "../../support/product/product.ts";
import { type CliOutcome, cliProcess } from "../../support/product/run-cli.ts";
import { shared } from "../../support/shared.ts";

const OLD = SECRETS.KEY_PEPPER;
const NEW = "the new pepper of the product tests";

const product = await shared(startProduct({ apis: 1, workers: 1 }));

async function statusOf(key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  return (await fetch(`${product.api(0).url}/v1/me`, { headers })).status;
}

interface ResponseJson {
  readonly output?: readonly { readonly id: string }[];
  readonly error?: { readonly message: string };
}

/** The ids of the items of a response to this input, or the refusal. */
async function respond(key: string, input: string | readonly object[]) {
  const reply = await fetch(`${product.api(0).url}/v1/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "ok", input }),
  });
  const { output = [], error } = (await reply.json()) as ResponseJson;
  return { ids: output.map(({ id }) => id), refusal: error?.message ?? null };
}

const referTo = (ids: readonly string[]) => [
  ...ids.map((id) => ({ type: "item_reference", id })),
  { role: "user", content: "And now?" },
];

async function restart(pepper: string): Promise<void> {
  for (const program of product.programs) {
    await program.stop();
    await program.start({ env: { KEY_PEPPER: pepper } });
  }
}

/** The output of the command-line tool, and its end. */
function farebox(pepper: string, ...args: readonly string[]): Promise<CliOutcome> {
  return cliProcess(args, { env: { ...product.env, KEY_PEPPER: pepper } });
}

async function digests(): Promise<string[]> {
  const rows = await product.operator.database.sql`SELECT digest FROM keys`;
  return rows.map((row) => String(row.digest));
}

test("a pepper is replaced while every key keeps working", async () => {
  const [used, unused] = [await product.account(), await product.account()];
  expect(await statusOf(used.key)).toBe(200);
  const { ids } = await respond(used.key, "Fare?");
  expect(ids[0]).toContain("_sealed1-");

  await product.api(0).stop();
  const wrong = product.api(0).start({ env: { KEY_PEPPER: "a pepper of someone else" } });
  await expect(wrong).rejects.toThrow("KEY_PEPPER is not the secret that this database was used");
  const refused = await farebox("a pepper of someone else", "account", "show", used.id);
  expect(refused).toMatchObject({ code: 1, out: "" });
  expect(refused.err).toContain("KEY_PEPPER is not the secret");

  await restart(`${NEW},${OLD}`);
  expect(await statusOf(used.key)).toBe(200);
  const later = await respond(used.key, referTo(ids));
  expect(later.refusal).toBeNull();
  expect(later.ids[0]).toContain("_sealed1-");
  await eventually("the used key has moved", async () => {
    return (await digests()).includes(keyDigest(used.key, NEW));
  });
  const made = await farebox(
    `${NEW},${OLD}`,
    "key",
    "create",
    used.id,
    "--scopes",
    "models",
    "--json",
  );
  expect(made.err).toBe("");
  const { key } = JSON.parse(made.out) as { key: string };
  expect(await digests()).toContain(keyDigest(key, NEW));
  expect(await statusOf(key)).toBe(200);

  // The old pepper is still needed by a key that was not used since.
  await product.api(0).stop();
  const tooEarly = product.api(0).start({ env: { KEY_PEPPER: NEW } });
  await expect(tooEarly).rejects.toThrow(`1 API keys that are not revoked (${unused.keyId})`);
  await product.api(0).start({ env: { KEY_PEPPER: `${NEW},${OLD}` } });
  expect(await statusOf(unused.key)).toBe(200);
  await eventually("the other key has moved", async () => {
    return (await digests()).includes(keyDigest(unused.key, NEW));
  });

  await restart(NEW);
  expect(await statusOf(used.key)).toBe(200);
  expect(await statusOf(unused.key)).toBe(200);
  expect(await statusOf(key)).toBe(200);
  // The ids that the new secret sealed outlive the old secret, whose own ids end with it.
  expect((await respond(used.key, referTo(later.ids))).refusal).toBeNull();
  const { refusal } = await respond(used.key, referTo(ids));
  expect(refusal).toStartWith("input[0].id is not the id of an item that carries its content");
});
