// Asks the registry of packages by npm: when versions were published, and whether their signatures
// are right. A registry that does not answer is told apart from one that answers badly.

import type { Outcome } from "../deploy/tools.ts";

/** Options of npm: one try of ten seconds, since whoever waits is told what was not asked. */
const ONCE = ["--fetch-retries=0", "--fetch-timeout=10000"];

export type Npm = (args: readonly string[]) => Promise<Outcome>;

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

/** What is known of the signatures of the installed packages. */
export type Signatures =
  | { readonly is: "right" }
  | { readonly is: "wrong"; readonly words: string }
  /** The registry offers no signatures, or does not answer. */
  | { readonly is: "unknown"; readonly words: string };

/** Has npm compare the signatures of all installed packages with the keys of the registry. */
export async function checkSignatures(npm: Npm): Promise<Signatures> {
  const { exitCode, stdout, stderr } = await npm(["audit", "signatures", "--json", ...ONCE]);
  const found = parsed(stdout);
  if (found === null) return { is: "unknown", words: firstLine(stderr) };
  const bad = [...found.invalid, ...found.missing].map(({ name, version }) => `${name}@${version}`);
  if (exitCode === 0 && bad.length === 0) return { is: "right" };
  return { is: "wrong", words: bad.join(", ") || firstLine(stderr) };
}

interface Found {
  readonly invalid: readonly { readonly name: string; readonly version: string }[];
  readonly missing: readonly { readonly name: string; readonly version: string }[];
}

/** The lists of npm; null if it ended with an error of another kind. */
function parsed(stdout: string): Found | null {
  try {
    const found = JSON.parse(stdout) as Partial<Found>;
    const { invalid, missing } = found;
    return invalid === undefined || missing === undefined ? null : { invalid, missing };
  } catch {
    return null;
  }
}

function firstLine(stderr: string): string {
  const said = stderr.split("\n").filter((line) => line.startsWith("npm error"));
  return said[0] === undefined ? stderr.trim() : said.slice(0, 2).join(" ");
}
