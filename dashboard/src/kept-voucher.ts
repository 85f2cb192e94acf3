// The voucher of a link, which this browser keeps until it is redeemed or declined: whoever opens
// the link may have to sign in first, or sign up and open the link of a mail. The code is behind
// the `#` of the link, which browsers send to no server, and is taken out of the address at once.

import { useSyncExternalStore } from "react";
import { DAY_MS } from "../../src/core/durations.ts";
import { serverTime } from "./api/client.ts";
import { forget, remember, remembered } from "./session.tsx";

const NAME = "farebox-voucher";
const LINK = /^#voucher=([A-Za-z0-9%-]{1,128})$/;
const KEPT = /^(\d{1,15}) (.+)$/;
/** Long enough for the mail of a sign-up; a browser of several people must not keep a code. */
const KEPT_MS = DAY_MS;

const listeners = new Set<() => void>();

/** Keeps the voucher of this address, also of a link that opens while the app runs. */
export function takeVouchersOfLinks(): void {
  take();
  window.addEventListener("hashchange", take);
}

function take(): void {
  const [, code] = LINK.exec(window.location.hash) ?? [];
  if (code === undefined) return;
  remember(NAME, `${serverTime() + KEPT_MS} ${code}`);
  const { pathname, search } = window.location;
  window.history.replaceState(window.history.state, "", `${pathname}${search}`);
  tell();
}

/** The code of the voucher that this browser keeps; null without one. */
export function useKeptVoucher(): string | null {
  return useSyncExternalStore(subscribe, keptVoucher);
}

export function forgetVoucher(): void {
  forget(NAME);
  tell();
}

function keptVoucher(): string | null {
  const [, until, code] = KEPT.exec(remembered(NAME) ?? "") ?? [];
  return code !== undefined && Number(until) > serverTime() ? code : null;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tell(): void {
  for (const listener of listeners) listener();
}
