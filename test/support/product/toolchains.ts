// Finds the toolchains of clients in other languages on the machine, and installs their packages
// once below the home of Farebox, in exactly the versions that are pinned here.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { homeFolder, PROJECT } from "../../../scripts/local/home.mjs";

const PYTHON_FOLDER = join(PROJECT, "test/product/clients/python");
const REQUIREMENTS = join(PYTHON_FOLDER, "requirements.txt");
const OLDEST_PYTHON = [3, 10] as const;
const OLDEST_GO = [1, 21] as const;

/** A toolchain, or why it is missing. */
export type OrMissing<T> = T | { readonly missing: string };

/** True in CI, by the variable that CI services set; there a missing toolchain is a failure. */
export function isCi(): boolean {
  return !["", "0", "false"].includes((process.env.CI ?? "").toLowerCase());
}

/**
 * Returns a Python that has the packages of `requirements.txt`. Installs missing packages, which
 * takes a minute or two; an installation that fails is an error, not a missing toolchain.
 */
export async function preparePython(): Promise<OrMissing<string>> {
  const system = await systemPython();
  if (typeof system !== "string") return system;
  const { folder, python, complete } = pythonPlaces();
  if (existsSync(complete)) return python;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await must([system, "-m", "venv", folder]);
  // The list is complete, so pip has nothing to resolve, and no package is built.
  const options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:"];
  await must([python, "-m", "pip", "install", ...options, "-r", REQUIREMENTS]);
  writeFileSync(complete, "");
  return python;
}

/** Returns that Python if an earlier run prepared it; installs nothing. */
export function preparedPython(): OrMissing<string> {
  const { python, complete } = pythonPlaces();
  return existsSync(complete) ? python : { missing: "'npm run clients' did not install it yet" };
}

/** Returns the Go of this machine, if it is new enough. */
export async function findGo(): Promise<OrMissing<string>> {
  const version = await outputOf(["go", "env", "GOVERSION"]);
  if (version === null) return { missing: "there is no go" };
  if (isOlder(version, OLDEST_GO)) {
    return { missing: `${version} is older than ${OLDEST_GO.join(".")}` };
  }
  return "go";
}

/** Builds a Go module of the project, and returns the path of the program. */
export async function prepareGo(module: string): Promise<OrMissing<string>> {
  const go = await findGo();
  if (typeof go !== "string") return go;
  const program = goProgram(module);
  // Unoptimised: the program runs once, and most of the time goes into compiling the SDK.
  const options = ["-trimpath", "-gcflags=all=-N -l", "-o", program];
  await must([go, "build", "-C", join(PROJECT, module), ...options, "."]);
  return program;
}

/** Returns that program if an earlier run built it; builds nothing. */
export function preparedGo(module: string): OrMissing<string> {
  const program = goProgram(module);
  return existsSync(program) ? program : { missing: "'npm run clients' did not build it yet" };
}

function goProgram(module: string): string {
  const version = Bun.hash(sourcesOf(module)).toString(36);
  return join(cacheFolder(), `${module.replaceAll("/", "-")}-${version}`);
}

function sourcesOf(module: string): string {
  const names = [...new Bun.Glob("*.{go,mod,sum}").scanSync({ cwd: join(PROJECT, module) })].sort();
  return names.map((name) => readFileSync(join(PROJECT, module, name), "utf8")).join("\n");
}

function pythonPlaces() {
  const version = Bun.hash(readFileSync(REQUIREMENTS)).toString(36);
  const folder = join(cacheFolder(), `python-${version}`);
  return {
    folder,
    python: join(folder, "bin", "python"),
    complete: join(folder, "complete"),
  };
}

function cacheFolder(): string {
  return join(homeFolder(), "clients");
}

async function systemPython(): Promise<OrMissing<string>> {
  const version = await outputOf(["python3", "--version"]);
  if (version === null) return { missing: "there is no python3" };
  if (isOlder(version, OLDEST_PYTHON)) {
    return { missing: `${version} is older than ${OLDEST_PYTHON.join(".")}` };
  }
  const modules = await outputOf(["python3", "-c", "import venv, ensurepip"]);
  return modules === null ? { missing: "python3 has no venv" } : "python3";
}

function isOlder(version: string, [major, minor]: readonly [number, number]): boolean {
  const [, first = "0", second = "0"] = /(\d+)\.(\d+)/.exec(version) ?? [];
  return Number(first) < major || (Number(first) === major && Number(second) < minor);
}

/** The output of a program; null if it does not exist or fails. */
async function outputOf(command: readonly string[]): Promise<string | null> {
  if (Bun.which(command[0] ?? "") === null) return null;
  const child = Bun.spawn([...command], { stdout: "pipe", stderr: "ignore" });
  const text = (await new Response(child.stdout).text()).trim();
  return (await child.exited) === 0 ? text : null;
}

/** Runs a command, which must succeed, and returns its output. */
export async function must(
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const options = { stdout: "pipe", stderr: "pipe", env: { ...process.env, ...env } } as const;
  const child = Bun.spawn([...command], options);
  const [out, problems] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) === 0) return out;
  throw new Error(`'${command.join(" ")}' failed:\n${out}${problems}`);
}
