// Tests the reports about the registry of packages: its answers, and that it did not answer, which
// is never taken for a good answer.

import { expect, test } from "bun:test";
import { run } from "../../../scripts/deploy/tools.ts";
import { temporaryFolder } from "../../../scripts/local/processes.mjs";
import {
  checkSignatures,
  type Npm,
  RegistryAway,
  timesOf,
} from "../../../scripts/release/registry.ts";

const PUBLISHED = "2026-11-20T12:00:00.000Z";

/** npm in an empty folder, with a registry of its own. */
async function withNpm<T>(registry: string, use: (npm: Npm) => Promise<T>): Promise<T> {
  const folder = temporaryFolder("farebox-test-registry-");
  const env = { npm_config_registry: registry, npm_config_cache: `${folder.path}/cache` };
  try {
    return await use((args) => run(["npm", ...args], { cwd: folder.path, env }));
  } finally {
    folder.remove();
  }
}

test("the registry says when versions were published; an unknown package has none", async () => {
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) =>
      url.endsWith("/known")
        ? Response.json({
            name: "known",
            "dist-tags": { latest: "1.0.0" },
            versions: { "1.0.0": { name: "known", version: "1.0.0" } },
            time: { "1.0.0": PUBLISHED },
          })
        : Response.json({ error: "not found" }, { status: 404 }),
  });
  await withNpm(`http://127.0.0.1:${server.port}/`, async (npm) => {
    expect(await timesOf(npm, "known")).toMatchObject({ "1.0.0": PUBLISHED });
    expect(await timesOf(npm, "unknown")).toEqual({});
  });
});

test("a registry that does not answer is no answer, and its words are kept", async () => {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const registry = `http://127.0.0.1:${server.port}/`;
  await server.stop(true);
  await withNpm(registry, async (npm) => {
    const asked = timesOf(npm, "known");
    await expect(asked).rejects.toThrow(RegistryAway);
    await expect(asked).rejects.toThrow("ECONNREFUSED");
  });
});

test.each([
  ["{}", 0, { is: "unknown", words: "npm ended with 0 and no list of signatures" }],
  ["", 1, { is: "unknown", words: "npm error code ENOTFOUND npm error network" }],
  ['{"invalid":[],"missing":[]}', 0, { is: "right" }],
  [
    '{"invalid":[{"name":"a","version":"1.0.0"}],"missing":[]}',
    1,
    { is: "wrong", words: "a@1.0.0" },
  ],
  [
    '{"invalid":[],"missing":[{"name":"b","version":"2.0.0"}]}',
    1,
    { is: "wrong", words: "b@2.0.0" },
  ],
] as const)("signatures of which npm says %s with %d", async (stdout, exitCode, expected) => {
  const stderr = exitCode === 0 ? "" : "npm error code ENOTFOUND\nnpm error network\nnpm error b\n";
  expect(await checkSignatures(async () => ({ exitCode, stdout, stderr }))).toEqual(expected);
});

const SUMMARY = "a@1.0.0: what npm found";

test.each([
  "EATTESTATIONSUBJECT",
  "EEXPIREDSIGNATUREKEY",
  "EINTEGRITY",
  "EINTEGRITYSIGNATURE",
  "EMISSINGSIGNATUREKEY",
])("a package for which npm ends with %s is wrong", async (code) => {
  expect(await signaturesOf({ error: { code, summary: SUMMARY } })).toEqual({
    is: "wrong",
    words: `${code}: ${SUMMARY}`,
  });
});

test.each([
  ["ENOTFOUND", SUMMARY, `ENOTFOUND: ${SUMMARY}`],
  ["TUF_REFRESH_METADATA_ERROR", SUMMARY, `TUF_REFRESH_METADATA_ERROR: ${SUMMARY}`],
  [undefined, "found no dependencies to audit", "found no dependencies to audit"],
])("a registry for which npm ends with %s was not asked", async (code, summary, words) => {
  expect(await signaturesOf({ error: { code, summary } })).toEqual({ is: "unknown", words });
});

test("a package is not wrong because keys to compare it with could not be fetched", async () => {
  const lost = attested("error refreshing TUF metadata");
  const cut = attested("error downloading target undefined");
  const wrong = { ...attested("artifact signature verification failed"), name: "b" };
  expect(await signaturesOf({ invalid: [lost, cut], missing: [] })).toEqual({
    is: "unknown",
    words: lost.message,
  });
  expect(await signaturesOf({ invalid: [lost, wrong], missing: [] })).toEqual({
    is: "wrong",
    words: "b@1.0.0",
  });
});

/** An attestation that npm could not compare, and why. */
function attested(why: string) {
  const message = `a@1.0.0 failed to verify attestation: ${why}`;
  return { name: "a", version: "1.0.0", code: "EATTESTATIONVERIFY", message };
}

function signaturesOf(said: object) {
  return checkSignatures(async () => ({ exitCode: 1, stdout: JSON.stringify(said), stderr: "" }));
}
