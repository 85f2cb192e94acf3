// The command of `--kill`, which kills a process of the installation in the middle of a race.

import { thrownMessage } from "../../core/text/error-message.ts";
import type { StepOutcome } from "./drill-report.ts";

/** The answer at which the command runs. */
const KILL_AT = 10;

export class KillCommand {
  /**
   * The promise resolves with the outcome of the command. The promise never rejects, because the
   * command may end before its caller waits for the promise.
   */
  #ran: Promise<StepOutcome> | null = null;

  /** The command is ended after `waitMs`, or at once when the drill stops. */
  constructor(
    readonly command: string | null,
    readonly waitMs: number,
    readonly stop: AbortSignal,
  ) {}

  /** Runs the command if this is the answer for it. */
  answered(count: number): void {
    if (count === KILL_AT && this.command !== null) this.#ran = this.#run(this.command);
  }

  /** The result of the command, once the command has ended; skipped if it did not run. */
  async outcome(): Promise<StepOutcome> {
    if (this.#ran !== null) return await this.#ran;
    const words =
      this.command === null
        ? "No command was named with --kill: nothing that serves was killed."
        : `It did not run, because fewer than ${KILL_AT} calls were answered: ${this.command}`;
    return { verdict: "skipped", words };
  }

  async #run(command: string): Promise<StepOutcome> {
    try {
      const child = Bun.spawn(["sh", "-c", command], {
        stdin: "ignore",
        stdout: "ignore",
        stderr: "ignore",
        signal: AbortSignal.any([AbortSignal.timeout(this.waitMs), this.stop]),
        killSignal: "SIGKILL",
      });
      await child.exited;
      const { exitCode, signalCode } = child;
      if (exitCode === 0) return { verdict: "passed", words: `It ran: ${command}` };
      const end =
        signalCode === null
          ? `ended with the exit code ${exitCode}`
          : `was ended by ${signalCode}; it may take ${this.waitMs / 1_000} s`;
      return { verdict: "failed", words: `It ${end}: ${command}` };
    } catch (error) {
      const reason = thrownMessage(error);
      return { verdict: "failed", words: `It could not be run (${reason}): ${command}` };
    }
  }
}
