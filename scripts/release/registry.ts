// Asks the registry of packages by npm: when versions were published, and whether their signatures
// are right. A missing answer of the registry and a bad one are different results.

import type { ProgramResult } from "../deploy/tools.ts";

/**
 * Options of npm. One try of ten seconds is enough, because the report names each package that was
 * not checked. `npm run --silent` silences the npm of its scripts; `--loglevel` undoes that.
 */
const ONCE = ["--fetch-retries=0", "--fetch-timeout=10000", "--loglevel=error"];

export type Npm = (args: readonly string[]) => Promise<ProgramResult>;

/** Thrown if the registry does not answer; the message has the words of npm. */
export class RegistryAway extends Error {
  override name = "RegistryAway";
}

/**
 * Returns when each version of a package was published, in ISO 8601; nothing for an unknown one.
 * @throws {RegistryAway}
 */
export async function timesOf(npm: Npm, name: string): Promise<Readonly<Record<string, string>>> {
  const { exitCode, stdout, stderr } = await npm(["view", name, "time", "--json", ...ONCE]);
  if (exitCode === 0) return JSON.parse(stdout);
  if (/\bE404\b/.test(stdout + stderr)) return {};
  throw new RegistryAway(firstLine(stderr));
}

/** The result of comparing the signatures of the installed packages. */
export type Signatures =
  | { readonly is: "right" }
  | { readonly is: "wrong"; readonly words: string }
  /** The registry offers no signatures, or it or the store of its keys does not answer. */
  | { readonly is: "unknown"; readonly words: string };

/** Has npm compare the signatures of all installed packages with the keys of the registry. */
export async function checkSignatures(npm: Npm): Promise<Signatures> {
  const { exitCode, stdout, stderr } = await npm(["audit", "signatures", "--json", ...ONCE]);
  const { invalid, missing, error } = parsed(stdout);
  if (invalid === undefined || missing === undefined) {
    const code = error?.code ?? /^npm error code (\w+)/m.exec(stderr)?.[1] ?? "";
    const said = [error?.code ?? [], error?.summary ?? []].flat().join(": ") || firstLine(stderr);
    const words = said || `npm ended with ${exitCode} and no list of signatures`;
    return { is: OF_A_PACKAGE.test(code) ? "wrong" : "unknown", words };
  }
  const notCompared = invalid.filter(({ message }) => NO_KEYS.test(message ?? ""));
  const bad = [...invalid.filter((each) => !notCompared.includes(each)), ...missing];
  const words = bad.map(({ name, version }) => `${name}@${version}`).join(", ");
  if (words !== "") return { is: "wrong", words };
  if (notCompared[0] !== undefined) return { is: "unknown", words: notCompared[0].message ?? "" };
  return exitCode === 0 ? { is: "right" } : { is: "wrong", words: firstLine(stderr) };
}

/** Errors with which npm ends at a package whose signature or digest is wrong. */
const OF_A_PACKAGE = /^E.*(ATTESTATION|INTEGRITY|SIGNATURE)/;
/** The words of npm if it could not fetch the keys of an attestation; its code does not say so. */
const NO_KEYS = /failed to verify attestation: error (refreshing TUF|downloading target)/;

interface Listed {
  readonly name: string;
  readonly version: string;
  readonly message?: string;
}

/** The output of npm: its lists, or the error with which it ended. */
interface Said {
  readonly invalid?: readonly Listed[];
  readonly missing?: readonly Listed[];
  readonly error?: { readonly code?: string; readonly summary?: string };
}

function parsed(stdout: string): Said {
  try {
    return JSON.parse(stdout) as Said;
  } catch {
    return {};
  }
}

function firstLine(stderr: string): string {
  const said = stderr.split("\n").filter((line) => line.startsWith("npm error"));
  return said[0] === undefined ? stderr.trim() : said.slice(0, 2).join(" ");
}
