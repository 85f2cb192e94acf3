// Asks the questions of `farebox setup`: a person on a terminal, or the answers that a script gave
// in a file or in its environment. A question without an answer keeps the present value.

import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { type Environment, secretOf } from "../../settings/environment.ts";
import { UsageError } from "../command.ts";

export interface Question {
  /** The name of the answer in a file; `FAREBOX_SETUP_` and this in capitals in the environment. */
  readonly id: string;
  readonly text: string;
  /** The present value, which stays without an answer; null if nothing is set. */
  readonly current: string | null;
  /** Neither the answer nor the present value is shown. */
  readonly isSecret?: true;
  /** The reason why nobody can answer now: a person is not asked, and a script's answer refused. */
  readonly unavailable?: string | null;
  /** Checks an answer, or a value that stays. @throws RangeError with the rule */
  readonly check: (text: string) => string | Promise<string>;
}

export interface Asker {
  /** Returns the checked value: the answer, or else the present value; null without either. */
  ask(question: Question): Promise<string | null>;
  /**
   * Says that an answer turned out to be wrong. A terminal asks again; for a script it ends the
   * setup. @throws UsageError
   */
  refuse(id: string, problem: string): void;
  /** Begins a part of the questions. */
  say(line: string): void;
}

const PREFIX = "FAREBOX_SETUP_";

/** The environment variable of an answer. */
export function answerVariable(id: string): string {
  return `${PREFIX}${id.toUpperCase()}`;
}

/** The id of the answers about a provider, such as `openai_compatible_key`. */
export function providerAnswer(provider: string, field: string): string {
  return `${provider.replaceAll(/[^a-z0-9]+/g, "_")}_${field}`;
}

export interface Script {
  readonly answers: Readonly<Record<string, string>>;
  readonly environment: Environment;
  readonly say: (line: string) => void;
}

/**
 * Takes answers from a file and the environment. `checkUsed` refuses answers to questions that were
 * never asked.
 */
export class ScriptAsker implements Asker {
  readonly #asked = new Set<string>();

  constructor(readonly script: Script) {}

  async ask({ id, current, unavailable, check }: Question): Promise<string | null> {
    this.#asked.add(id);
    const answer = this.#answer(id);
    if (answer !== null && unavailable) this.refuse(id, unavailable);
    const text = answer ?? current;
    if (text === null) return null;
    try {
      return await check(text);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new UsageError(`${id} ${error.message}. Nothing was changed`);
    }
  }

  refuse(id: string, problem: string): never {
    throw new UsageError(`${id}: ${problem}. Nothing was changed`);
  }

  say(line: string): void {
    this.script.say(line);
  }

  /** Refuses answers to no question: a misspelt one must not be left out. @throws UsageError */
  checkUsed(): void {
    const { answers, environment } = this.script;
    const ofEnvironment = Object.keys(environment)
      .filter((name) => name.startsWith(PREFIX))
      .map((name) => name.slice(PREFIX.length).toLowerCase());
    const given = [...Object.keys(answers), ...ofEnvironment];
    const isAsked = (id: string) =>
      this.#asked.has(id) || this.#asked.has(id.replace(/_file$/, ""));
    const unused = given.find((id) => !isAsked(id));
    if (unused === undefined) return;
    throw new UsageError(`'${unused}' answers no question of this setup. Nothing was changed`);
  }

  #answer(id: string): string | null {
    const { answers, environment } = this.script;
    const ofEnvironment = secretOf(answerVariable(id), environment).text;
    return (Object.hasOwn(answers, id) ? answers[id] : null) ?? ofEnvironment;
  }
}

interface Streams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** Asks a person. Must be closed. */
export class TerminalAsker implements Asker, Disposable {
  #isMuted = false;
  readonly #lines;

  constructor(readonly streams: Streams) {
    const output = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        if (!this.#isMuted) streams.output.write(chunk);
        done();
      },
    });
    // A history would show a hidden answer to whoever presses the arrow at the next question.
    const options = { terminal: true, historySize: 0 };
    this.#lines = createInterface({ input: streams.input, output, ...options });
    this.#lines.on("SIGINT", () => {
      this.say("\nNothing was changed.");
      process.exit(130);
    });
  }

  async ask({ unavailable, ...question }: Question): Promise<string | null> {
    if (unavailable) return null;
    const { id, text, current, isSecret, check } = question;
    const shown = current === null ? "none" : isSecret ? "as it is set" : current;
    for (;;) {
      const typed = (await this.#read(`${text} [${shown}]: `, isSecret === true)).trim();
      const answer = typed === "" ? current : typed;
      if (answer === null) return null;
      try {
        return await check(answer);
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        this.refuse(id, error.message);
      }
    }
  }

  refuse(_id: string, problem: string): void {
    this.say(`  This does not work: ${problem}.`);
  }

  say(line: string): void {
    this.streams.output.write(`${line}\n`);
  }

  async #read(prompt: string, isHidden: boolean): Promise<string> {
    if (!isHidden) return await this.#lines.question(prompt);
    this.streams.output.write(prompt);
    this.#isMuted = true;
    try {
      return await this.#lines.question("");
    } finally {
      this.#isMuted = false;
      this.streams.output.write("\n");
    }
  }

  [Symbol.dispose](): void {
    this.#lines.close();
  }
}
