/** What an operator has paused. */
export interface Pauses {
  /** `target` is "chat", "search", "maps", "mail" or "model:ID". */
  isPaused(target: string): boolean;
}
