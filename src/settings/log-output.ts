// Writes the log to standard output. The log's reader may hang or be gone, or its disk may be full:
// then lines are lost, and the process goes on (D-525).

/** The most characters of the log that wait for its reader. */
export const LOG_WAITING_MAX = 8 * 1024 * 1024;

/** Takes the lines of a log, or loses them: never waits, and never throws. */
export class LogOutput {
  #waiting = 0;
  #lost = 0;

  constructor(
    readonly stream: Pick<NodeJS.WriteStream, "on" | "write">,
    /** Called with the number of lost lines, once lines are taken again. */
    readonly onLost: (lines: number) => void,
  ) {
    // The callback of a write gets the error too. Without a listener the error would end the
    // process.
    stream.on("error", () => {});
  }

  write(line: string): void {
    const { length } = line;
    if (this.#waiting + length > LOG_WAITING_MAX) {
      this.#lost += 1;
      return;
    }
    this.#waiting += length;
    this.stream.write(line, (error) => this.#written(length, error ?? null));
  }

  #written(length: number, error: Error | null): void {
    this.#waiting -= length;
    if (error !== null) this.#lost += 1;
    else if (this.#lost > 0 && this.#waiting <= LOG_WAITING_MAX / 2) {
      const lost = this.#lost;
      this.#lost = 0;
      this.onLost(lost);
    }
  }
}
