// The settings of `farebox setup` until all questions are answered: the text of the configuration
// file, and the variables that go beside it. Only then are both written.

import { isDeepStrictEqual } from "node:util";
import { withEdits } from "../../annexes/prices/apply-edits.ts";
import type { PriceEdit } from "../../annexes/prices/price-merge.ts";
import { parseLocatedJson } from "../../core/configuration/located-json.ts";
import { isObject } from "../../core/text/json.ts";
import type { Catalogue } from "../../settings/catalogue.ts";
import { CatalogueError, parseCatalogue, parseShared } from "../../settings/catalogue-file.ts";
import { type Environment, secretOf } from "../../settings/environment.ts";

/** The file of an installation that sells nothing yet. */
const EMPTY = `{
  "providers": {},
  "models": []
}
`;

export interface Snapshot {
  /** Takes back all later changes. */
  restore(): void;
  /**
   * True if neither the variables nor the value at this path of the file have changed since the
   * snapshot.
   */
  isKept(...path: readonly string[]): boolean;
}

export class Draft {
  /** Variables that change. */
  readonly variables = new Map<string, string>();
  /** The findings of the checks, for the operator. */
  readonly findings: string[] = [];
  /**
   * The problems of servers that failed their check, such as a provider or the mail relay. The
   * setup keeps the settings of these servers, because the operator did not change the settings.
   */
  readonly problems: string[] = [];
  readonly #environment: Environment;
  #text: string;

  /**
   * `before` is the text of the file, or null if there is none; `name` names the file in messages.
   */
  constructor(
    readonly name: string,
    readonly before: string | null,
    environment: Environment,
  ) {
    this.#text = before ?? EMPTY;
    this.#environment = environment;
  }

  get text(): string {
    return this.#text;
  }

  get isTextChanged(): boolean {
    return this.#text !== (this.before ?? EMPTY);
  }

  /** The environment with the changes. A changed secret goes before a file that named it. */
  get environment(): Environment {
    const env: Record<string, string | undefined> = { ...this.#environment };
    for (const [name, value] of this.variables) {
      env[name] = value;
      delete env[`${name}_FILE`];
    }
    return env;
  }

  /** The value of a variable, of a secret also from its file; null if it is not set. */
  variable(name: string): string | null {
    return secretOf(name, this.environment).text;
  }

  /** Sets a variable to a value that `quotable` has checked, unless it has this value. */
  set(name: string, value: string): void {
    if (this.variable(name) !== value) this.variables.set(name, value);
  }

  /** Remembers the state before the questions of a part. */
  snapshot(): Snapshot {
    const [text, variables] = [this.#text, new Map(this.variables)];
    const isSame = () =>
      variables.size === this.variables.size &&
      [...variables].every(([name, value]) => this.variables.get(name) === value);
    return {
      restore: () => {
        this.#text = text;
        this.variables.clear();
        for (const [name, value] of variables) this.variables.set(name, value);
      },
      isKept: (...path) => isSame() && isDeepStrictEqual(valueAt(text, path), this.at(...path)),
    };
  }

  /** The value at a path of the configuration file; undefined without one. */
  at(...path: readonly string[]): unknown {
    return valueAt(this.#text, path);
  }

  /** Changes single values, and keeps everything else as it is written. */
  edit(edits: readonly PriceEdit[]): void {
    this.#text = withEdits(this.#text, edits);
  }

  /** Sets a value of the file, unless it is there. */
  put(path: readonly string[], value: unknown): void {
    if (this.at(...path) !== value) this.edit([{ path, value }]);
  }

  /** Tries a change: if the file would be refused, it is undone. @throws RangeError */
  tryPut(path: readonly string[], value: unknown): void {
    const before = this.#text;
    this.put(path, value);
    try {
      parseShared(this.#text, this.name);
    } catch (error) {
      this.#text = before;
      if (!(error instanceof CatalogueError)) throw error;
      throw new RangeError(`is refused: ${this.#withoutPlace(error.message, path)}`);
    }
  }

  /** A problem of the value that was just tried, whose line is in no file yet. */
  #withoutPlace(problem: string, path: readonly string[]): string {
    const [, own] = /^ line \d+: ([\s\S]*)$/.exec(problem.slice(this.name.length)) ?? [];
    return own?.startsWith(`${path.join(".")} `) ? own : problem;
  }

  /** The file as the servers would read it. @throws CatalogueError */
  catalogue(): Catalogue {
    return parseCatalogue(this.#text, this.environment, { fileName: this.name });
  }
}

function valueAt(text: string, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (isObject(value) ? value[key] : undefined),
    parseLocatedJson(text).value,
  );
}
