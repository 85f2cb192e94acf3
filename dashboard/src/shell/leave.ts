// The ways out: the person leaves, or the server says that the session has ended or that the
// account is no longer theirs. The page is then loaded again, so that its memory forgets
// the figures and new keys that it has shown.

import { useEffect } from "react";
import { thrownMessage } from "../../../src/core/text/error-message.ts";
import { signOut } from "../api/auth.ts";
import { RequestError } from "../api/client.ts";
import { meQuery, queryClient } from "../api/queries.ts";
import { forgetVoucher } from "../kept-voucher.ts";
import { say } from "../parts/ask.tsx";

const HOME = "/dashboard";
const SIGN_IN = `${HOME}/sign-in`;
/** 403: the address, second factor or sign-on is refused. 404: the person is no operator. */
const REFUSED_TO_OPERATORS: readonly number[] = [403, 404];

/** True from the moment this page is left: the queries of a page fail together. */
let isLeaving = false;
window.addEventListener("pageshow", () => {
  isLeaving = false;
});

function go(address: string): void {
  if (isLeaving) return;
  isLeaving = true;
  window.location.assign(address);
}

/** Ends the session. If the server does not answer, the session goes on, and the page says so. */
export async function leave(): Promise<void> {
  try {
    await signOut();
  } catch (error) {
    if (!hasEnded(error)) return say(thrownMessage(error));
  }
  // The next person at this browser must not find the voucher's code. If a session ends by itself,
  // the browser keeps the code.
  forgetVoucher();
  go(SIGN_IN);
}

/** Leads to sign-in, and back from there, when the server says that the session has ended. */
export function useSessionEnd(): void {
  useRefusals((error) => {
    if (!hasEnded(error)) return;
    const { pathname, search } = window.location;
    go(`${SIGN_IN}?next=${encodeURIComponent(pathname + search)}`);
  });
}

/** Leads to another account when the server says that the person belongs to this one no longer. */
export function useAccountLoss(): void {
  useRefusals((error) => {
    if (error instanceof RequestError && error.code === "account_not_found") {
      go(HOME);
    }
  });
}

/**
 * Asks who is signed in when operators' data is refused: a session that has ended, or a person who
 * is no operator any longer, gets a 404, because a 403 would tell visitors that the path exists.
 */
export function useOperatorLoss(): void {
  useRefusals((error) => {
    if (!(error instanceof RequestError) || !REFUSED_TO_OPERATORS.includes(error.status)) return;
    void queryClient.invalidateQueries(meQuery);
  });
}

function hasEnded(error: unknown): boolean {
  return error instanceof RequestError && error.code === "not_signed_in";
}

/** Calls back with the error of each query of this page that fails. */
function useRefusals(onError: (error: unknown) => void): void {
  useEffect(() =>
    queryClient.getQueryCache().subscribe((event) => {
      if (event.type === "updated" && event.action.type === "error") onError(event.action.error);
    }),
  );
}
