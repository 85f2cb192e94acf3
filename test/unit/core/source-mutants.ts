// Makes copies of a source file with a fault, and runs the checks that must find it.

import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";

/**
 * The checks of a module, by the guarantee that each tests. A check throws if the guarantee is
 * broken.
 */
export type Checks<Module> = Readonly<Record<string, (module: Module) => void>>;

/** A test of each check. */
export function testAll<Module>(checks: Checks<Module>, module: Module): void {
  for (const [guarantee, check] of Object.entries(checks)) test(guarantee, () => check(module));
}

/** The guarantees that a module does not give. */
function brokenBy<Module>(checks: Checks<Module>, module: Module): string[] {
  return Object.entries(checks)
    .filter(([, check]) => isThrown(() => check(module)))
    .map(([guarantee]) => guarantee);
}

/** True if any check fails; the first failure ends the search. */
function isCaught<Module>(checks: Checks<Module>, module: Module): boolean {
  return Object.values(checks).some((check) => isThrown(() => check(module)));
}

function isThrown(run: () => void): boolean {
  try {
    run();
    return false;
  } catch {
    return true;
  }
}

/** A change of a source text. The change throws if it does not find its text. */
export type Change = (source: string) => string;

/** Replaces a text that must occur exactly once. */
export function replaced(good: string, bad: string): Change {
  return (source) => {
    const [before, after, ...more] = source.split(good);
    if (before === undefined || after === undefined || more.length > 0) {
      throw new Error(`The source has '${good}' not exactly once`);
    }
    return before + bad + after;
  };
}

/** Adds `by` to the first number after `anchor`, or to the first one after `field` below it. */
export function stepped(anchor: string, by: number, field = ""): Change {
  return (source) => {
    const [before, part, ...more] = source.split(anchor);
    if (before === undefined || part === undefined || more.length > 0) {
      throw new Error(`The source has '${anchor}' not exactly once`);
    }
    const name = field === "" ? "^" : `\\b${field}:`;
    const end = /^ *\}(?:\)|;| as)/m.exec(part)?.index ?? part.length;
    const number = new RegExp(`(?<=${name}\\D*)[\\d_]+`).exec(part.slice(0, end));
    if (number === null) throw new Error(`'${anchor}' has no number '${field}'`);
    const value = Number(number[0].replaceAll("_", "")) + by;
    const changed =
      part.slice(0, number.index) + value + part.slice(number.index + number[0].length);
    return before + anchor + changed;
  };
}

/** Changed copies of source files, in a folder that is removed at the end. */
export class Mutants implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "farebox-mutants-"));
  #count = 0;

  /** The module of `file` (from the root of the project) after all changes. */
  async load<Module>(file: string, changes: readonly Change[]): Promise<Module> {
    const path = resolve(import.meta.dir, "../../..", file);
    const source = await Bun.file(path).text();
    const changed = changes.reduce((text, change) => change(text), source);
    if (changes.length > 0 && changed === source) throw new Error(`${file} did not change`);
    this.#count += 1;
    const copy = join(this.#folder, `${this.#count}-${basename(file)}`);
    writeFileSync(copy, withAbsoluteImports(changed, dirname(path)));
    const module: Module = await import(copy);
    return module;
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true });
  }
}

export type Mutation = readonly [fault: string, ...changes: Change[]];

/** A source file, the checks that it must pass, and faults that the checks must find. */
export interface Suite<Module> {
  readonly file: string;
  readonly checks: Checks<Module>;
  /** Changes of every mutant that do not break the checks. */
  readonly harmless?: readonly Change[];
  readonly mutations: readonly Mutation[];
}

/** Defines a test for each mutation, and one for the unchanged file. */
export function testMutants<Module>(
  mutants: Mutants,
  { file, checks, harmless = [], mutations }: Suite<Module>,
): void {
  test("without a fault every check passes", async () => {
    expect(brokenBy(checks, await mutants.load<Module>(file, harmless))).toEqual([]);
  });
  for (const [fault, ...changes] of mutations) {
    test(`a check fails if ${fault}`, async () => {
      const mutant = await mutants.load<Module>(file, [...harmless, ...changes]);
      expect(isCaught(checks, mutant)).toBe(true);
    });
  }
}

function withAbsoluteImports(source: string, folder: string): string {
  return source.replaceAll(/(?<=\bfrom ")\.{1,2}\/[^"]+/g, (relative) => resolve(folder, relative));
}
