// The output of `npm run deploy:check`: a line for each thing that it saw, and the words of each
// refusal.

import { thrownMessage } from "../../src/core/text/error-message.ts";

export class Report {
  #failed = 0;

  get failed(): number {
    return this.#failed;
  }

  ok(what: string): void {
    console.log(`ok           ${what}`);
  }

  /** @param words the output of the program that refused, unchanged */
  fail(what: string, words: string): void {
    this.#failed += 1;
    console.log(`FAILED       ${what}\n${words.trimEnd()}`);
  }

  /** Something that this machine cannot do; with CI set that is a failure. */
  missing(what: string, why: string): void {
    if (process.env.CI) this.#failed += 1;
    console.log(`not checked  ${what}: ${why.trimEnd()}`);
  }

  /** Something that an engine refuses here, and that is done in another way. */
  refused(what: string, words: string): void {
    console.log(`refused      ${what}: ${words.trimEnd()}`);
  }

  /**
   * Runs a step, and returns true if it did not throw. The text that the step returns is added to
   * the line.
   */
  async step(what: string, run: () => Promise<unknown>): Promise<boolean> {
    const startedMs = performance.now();
    try {
      const seen = await run();
      const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
      this.ok(`${what}${typeof seen === "string" ? `: ${seen}` : ""} (${seconds} s)`);
      return true;
    } catch (error) {
      this.fail(what, thrownMessage(error));
      return false;
    }
  }
}
