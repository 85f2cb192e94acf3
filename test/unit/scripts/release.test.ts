// Tests the files of a release, from a small repository with the files that a release reads.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { PROJECT } from "../../../scripts/local/home.mjs";
import { temporaryFolder } from "../../../scripts/local/processes.mjs";
import { writeRelease } from "../../../scripts/release/files.ts";
import { readSigningKey, type SigningKey, signingCommands } from "../../../scripts/release/sign.ts";

const folder = temporaryFolder("farebox-test-release-");
const project = join(folder.path, "project");
const at = (...path: string[]) => join(folder.path, ...path);
const pem = newPem();
const key = readSigningKey(pem);

function newPem(): string {
  const { privateKey } = generateKeyPairSync("ed25519");
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

function git(...args: readonly string[]): void {
  const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
  const done = Bun.spawnSync(["git", ...who, ...args], { cwd: project });
  if (!done.success) throw new Error(`git ${args.join(" ")}: ${done.stderr}`);
}

/** Commits a state of the project and tags it. */
function tag(version: string, files: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries(files)) writeFileSync(join(project, path), text);
  git("add", "--all");
  git("commit", "--quiet", "--message", `Release ${version}`);
  git("tag", `v${version}`);
  return `v${version}`;
}

function filesOf(version: string, changelog = `## ${version} - 2026-12-01\n`) {
  const named = { name: "farebox", version };
  const dependency = { version: "9.0.0", integrity: `sha512-${"A".repeat(86)}==` };
  const packages = {
    "": { ...named, dependencies: { diff: "9.0.0" } },
    "node_modules/diff": dependency,
  };
  return {
    "package.json": JSON.stringify({ ...named, dependencies: { diff: "9.0.0" } }),
    "package-lock.json": JSON.stringify({ ...named, lockfileVersion: 3, requires: true, packages }),
    "deploy/helm/farebox/Chart.yaml": `appVersion: "${version}"\n`,
    "CHANGELOG.md": `# Changelog\n\n${changelog}`,
    "scripts/release/verify": `# verify of ${version}\n`,
  };
}

const make = (name: string, of: string, signedBy: SigningKey | null = key) =>
  writeRelease({ project, tag: of, out: at(name), key: signedBy, image: null });

const VERIFY = join(PROJECT, "scripts/release/verify");

function verify(name: string, fingerprint: string) {
  const command = ["sh", VERIFY, fingerprint, name];
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: folder.path });
  return { exitCode, text: `${stdout}${stderr}` };
}

let first: string;
beforeAll(async () => {
  mkdirSync(join(project, "deploy/helm/farebox"), { recursive: true });
  mkdirSync(join(project, "scripts/release"), { recursive: true });
  git("init", "--quiet");
  first = tag("1.0.0", filesOf("1.0.0"));
  await make("one", first);
});
afterAll(() => folder.remove());

test("a release of a tag is the same, byte for byte, when it is made again", async () => {
  await make("two", first);
  const names = readdirSync(at("one"));
  expect(names.sort()).toEqual([
    "SHA256SUMS",
    "SHA256SUMS.sig",
    "farebox-1.0.0.cdx.json",
    "farebox-1.0.0.provenance.json",
    "farebox-1.0.0.tar.gz",
    "release.pub",
    "verify",
  ]);
  for (const name of names) {
    const [one, two] = ["one", "two"].map((release) => readFileSync(at(release, name)));
    expect([name, one?.equals(two ?? Buffer.alloc(0))]).toEqual([name, true]);
  }
});

test("a release does not depend on the settings of git of whoever makes it", async () => {
  git("config", "tar.umask", "0077");
  git("config", "core.autocrlf", "true");
  await make("settings", first);
  for (const name of readdirSync(at("one"))) {
    const [one, two] = ["one", "settings"].map((release) => readFileSync(at(release, name)));
    expect([name, one?.equals(two ?? Buffer.alloc(0))]).toEqual([name, true]);
  }
});

test("the program that checks is the one of the tag", () => {
  expect(readFileSync(at("one", "verify"), "utf8")).toBe("# verify of 1.0.0\n");
});

test("a release that fails leaves nothing, and the next one finds its place free", async () => {
  const options = { project, tag: first, out: at("failed", "v1"), key };
  const image = () => Promise.reject(new Error("no engine"));
  await expect(writeRelease({ ...options, image })).rejects.toThrow("no engine");
  expect(readdirSync(at("failed"))).toEqual([]);
  await writeRelease({ ...options, image: null });
  expect(readdirSync(at("failed"))).toEqual(["v1"]);
});

test("a release is signed on another machine by the two commands that are printed", async () => {
  await make("apart", first, null);
  expect(readdirSync(at("apart"))).not.toContain("release.pub");
  writeFileSync(at("apart.pem"), pem);
  for (const command of signingCommands(at("apart.pem"), at("apart"))) {
    expect(Bun.spawnSync(["sh", "-c", command]).exitCode).toBe(0);
  }
  expect(verify("apart", key.fingerprint).exitCode).toBe(0);
});

test("a release names its packages with their digests, and the commit it comes from", () => {
  const bom = JSON.parse(readFileSync(at("one", "farebox-1.0.0.cdx.json"), "utf8"));
  expect(bom.bomFormat).toBe("CycloneDX");
  expect(bom.components).toHaveLength(1);
  expect(bom.components[0]).toMatchObject({
    purl: "pkg:npm/diff@9.0.0",
    hashes: [{ alg: "SHA-512" }],
  });
  const provenance = readFileSync(at("one", "farebox-1.0.0.provenance.json"), "utf8");
  const { subject, predicate } = JSON.parse(provenance);
  const commit = Bun.spawnSync(["git", "rev-parse", `${first}^{commit}`], { cwd: project });
  expect(predicate.buildDefinition.resolvedDependencies[0]).toEqual({
    name: "source",
    digest: { gitCommit: commit.stdout.toString().trim() },
  });
  const sums = readFileSync(at("one", "SHA256SUMS"), "utf8");
  for (const { name, digest } of subject) expect(sums).toContain(`${digest.sha256}  ${name}\n`);
});

test("one command shows that a release is whole and of the key", () => {
  const { exitCode, text } = verify("one", key.fingerprint);
  expect([exitCode, text]).toEqual([0, expect.stringContaining("This release is whole")]);
});

test("a file that was added to a release is refused, whatever its name", () => {
  for (const file of [".env", "SHA256SUMS\nrelease.pub", "farebox-1.0.1-image.tar"]) {
    const name = `added-${file.length}`;
    cpSync(at("one"), at(name), { recursive: true });
    writeFileSync(at(name, file), "x");
    const { exitCode, text } = verify(name, key.fingerprint);
    expect([file, exitCode, text]).toEqual([file, 1, expect.stringContaining("has other files")]);
  }
});

test("a release of another key, a changed file and a changed list are each refused", async () => {
  const other = readSigningKey(newPem());
  await make("other", first, other);
  expect(verify("other", key.fingerprint)).toMatchObject({
    exitCode: 1,
    text: expect.stringContaining(`release.pub is the key ${other.fingerprint}`),
  });
  for (const [file, words] of [
    ["farebox-1.0.0.tar.gz", "a file differs"],
    ["SHA256SUMS", "was not signed by this key"],
  ] as const) {
    const name = `changed-${file}`;
    cpSync(at("one"), at(name), { recursive: true });
    appendFileSync(at(name, file), "x");
    const { exitCode, text } = verify(name, key.fingerprint);
    expect([file, exitCode, text]).toEqual([file, 1, expect.stringContaining(words)]);
  }
});

test("a tag is refused if its files name another version or its changes have no date", async () => {
  const chart = { "deploy/helm/farebox/Chart.yaml": 'appVersion: "1.0.0"\n' };
  const cases = [
    ["1.1.0", { ...filesOf("1.1.0"), ...chart }, "Chart.yaml has version 1.0.0, not 1.1.0"],
    ["1.2.0", filesOf("1.0.0"), "package.json has version 1.0.0, not 1.2.0"],
    [
      "1.3.0",
      filesOf("1.3.0", "## 1.3.0 - unreleased\n"),
      "has no section '## 1.3.0 - YYYY-MM-DD'",
    ],
  ] as const;
  for (const [version, files, words] of cases) {
    await expect(make(version, tag(version, files))).rejects.toThrow(words);
  }
  await expect(make("none", "v9.9.9")).rejects.toThrow("There is no tag v9.9.9");
  await expect(make("none", "latest")).rejects.toThrow("latest is no tag such as v1.2.3");
  await expect(make("one", first)).rejects.toThrow("is not empty");
});
