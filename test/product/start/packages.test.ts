// Tests a project whose packages are archives in its folder, so that npm needs no registry.

import { describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "../../../scripts/local/home.mjs";
import { temporaryFolder } from "../../../scripts/local/processes.mjs";

const SCRIPTS = [
  "local/packages.mjs",
  "patch-packages.mjs",
  "local/home.mjs",
  "local/processes.mjs",
];

const INSTALL = `
import { ensurePackages } from "./scripts/local/packages.mjs";
await ensurePackages({ dev: process.argv[2] === "dev", progress: console.log });
`;

/** The package "served" is needed to serve, "tested" to test; both want a later Node. */
function newProject() {
  const { path, remove } = temporaryFolder("farebox-test-packages-");
  for (const name of ["served", "tested"]) {
    const folder = join(path, "sources", name);
    mkdirSync(folder, { recursive: true });
    const engines = { node: ">=99" };
    writeFileSync(join(folder, "package.json"), json({ name, version: "1.0.0", engines }));
    run(path, ["npm", "pack", "--silent", `./sources/${name}`]);
  }
  mkdirSync(join(path, "patches"));
  mkdirSync(join(path, "scripts", "local"), { recursive: true });
  for (const name of SCRIPTS) {
    copyFileSync(join(PROJECT, "scripts", name), join(path, "scripts", name));
  }
  writeFileSync(join(path, "install.mjs"), INSTALL);
  const dependencies = { served: "file:served-1.0.0.tgz" };
  const devDependencies = { tested: "file:tested-1.0.0.tgz" };
  const project = { name: "project", version: "1.0.0", dependencies, devDependencies };
  writeFileSync(join(path, "package.json"), json(project));
  run(path, ["npm", "install", "--package-lock-only", "--silent"]);
  return {
    path,
    install: (kind: "served" | "dev") => run(path, ["node", "install.mjs", kind]),
    installed: () => readdirSync(join(path, "node_modules")).filter((name) => /^\w/.test(name)),
    [Symbol.dispose]: () => remove(),
  };
}

function json(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

function run(cwd: string, command: string[]) {
  const env = { ...process.env, npm_config_cache: join(cwd, "cache"), npm_config_offline: "true" };
  const { stdout, stderr, exitCode } = Bun.spawnSync(command, { cwd, env });
  return { stdout: stdout.toString(), stderr: stderr.toString(), exitCode };
}

function installing(count: number) {
  const stdout = `Installing packages with npm (${count} missing); this takes a minute.\n`;
  return { stdout, stderr: "", exitCode: 0 };
}

describe("packages are installed", () => {
  test("for serving without those of tests, and without output of npm", () => {
    using project = newProject();
    expect(project.install("served")).toEqual(installing(1));
    expect(project.installed()).toEqual(["served"]);
    expect(project.install("served")).toEqual({ stdout: "", stderr: "", exitCode: 0 });
  });

  test("for tests later, while those that serve stay unchanged", () => {
    using project = newProject();
    project.install("served");
    const kept = join(project.path, "node_modules", "served", "kept");
    writeFileSync(kept, "");
    const lockfile = Bun.file(join(project.path, "package-lock.json"));
    const { lastModified } = lockfile;
    expect(project.install("dev")).toEqual(installing(1));
    expect(project.installed().sort()).toEqual(["served", "tested"]);
    expect(existsSync(kept)).toBe(true);
    expect(Bun.file(join(project.path, "package-lock.json")).lastModified).toBe(lastModified);
  });

  test("and if npm fails, its output is shown", () => {
    using project = newProject();
    rmSync(join(project.path, "served-1.0.0.tgz"));
    rmSync(join(project.path, "cache"), { recursive: true });
    const { stderr, exitCode } = project.install("served");
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain("npm error");
    expect(stderr).toContain("served-1.0.0.tgz");
    expect(stderr).toContain("'npm ci --omit=dev' failed with exit code");
    expect(stderr).not.toContain("EBADENGINE");
  });
});
