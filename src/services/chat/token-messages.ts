// What the thread that counts tokens is asked, and what it answers.

export interface TokenQuestion {
  readonly id: number;
  readonly texts: readonly string[];
}

export interface TokenAnswer {
  readonly id: number;
  readonly tokens: number;
}
