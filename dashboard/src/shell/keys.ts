// The keyboard of a frame: keys that run a function, except in fields and dialogs.

import { useEffect, useRef } from "react";

/** After `g`, the letter must follow within this time. */
const LETTER_MS = 1_200;

interface Keys {
  /** The function of each key. */
  readonly keys: Readonly<Record<string, () => void>>;
  /** The function of each letter after `g`. */
  readonly afterG?: Readonly<Record<string, () => void>>;
}

/** Listens while the frame is shown, except where somebody types. */
export function useKeys({ keys, afterG = {} }: Keys): void {
  const pressedG = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      const isAfterG = event.timeStamp - pressedG.current < LETTER_MS;
      pressedG.current = event.key === "g" ? event.timeStamp : Number.NEGATIVE_INFINITY;
      const run = (isAfterG ? afterG[event.key] : undefined) ?? keys[event.key];
      if (run === undefined) return;
      event.preventDefault();
      run();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  });
}

/** True in fields, and inside a dialog, which has keys of its own. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.closest("input, textarea, select, [contenteditable], [role=dialog]") !== null;
}
