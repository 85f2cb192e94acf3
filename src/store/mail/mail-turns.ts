// Decides the order of messages that wait at the same time: accounts take turns.

export class MailTurns {
  /** The number of messages that wait, by account. An account without any has no entry. */
  readonly #waiting = new Map<string, number>();

  /** Counts a message that is waited for. Returns how many of its account already are. */
  begin(account: string): number {
    const before = this.#waiting.get(account) ?? 0;
    this.#waiting.set(account, before + 1);
    return before;
  }

  /** Ends the count of a message that `begin` counted. */
  end(account: string): void {
    const left = (this.#waiting.get(account) ?? 0) - 1;
    if (left > 0) this.#waiting.set(account, left);
    else this.#waiting.delete(account);
  }
}
