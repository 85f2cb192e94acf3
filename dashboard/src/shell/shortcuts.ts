// The keyboard: `g` and a letter opens a page, `n` makes a key, `/` finds, `?` lists them.

import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { PAGE_LETTERS, PAGE_PATHS } from "./pages.ts";

/** After `g`, the letter must follow within this time. */
const LETTER_MS = 1_200;

export type ShownByKey = "jump" | "keyboard" | null;

/** Listens while the frame is shown, except where somebody types. */
export function useShortcuts(account: string) {
  const [shown, show] = useState<ShownByKey>(null);
  const navigate = useNavigate();
  useEffect(() => {
    let afterG = Number.NEGATIVE_INFINITY;
    const onKey = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      const page = PAGE_LETTERS[event.key];
      if (event.timeStamp - afterG < LETTER_MS && page !== undefined) {
        afterG = Number.NEGATIVE_INFINITY;
        event.preventDefault();
        void navigate({ to: PAGE_PATHS[page], params: { account } });
        return;
      }
      if (event.key === "g") afterG = event.timeStamp;
      if (event.key === "?") show("keyboard");
      if (event.key === "/") {
        event.preventDefault();
        show("jump");
      }
      if (event.key === "n") {
        event.preventDefault();
        void navigate({ to: "/$account/keys", params: { account }, search: { new: "key" } });
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [account, navigate]);
  return { shown, hide: () => show(null) };
}

/** True in fields, and inside a dialog, which has keys of its own. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.closest("input, textarea, select, [contenteditable], [role=dialog]") !== null;
}
