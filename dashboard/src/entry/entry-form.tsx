// A form of the pages before sign-in: it runs one request and shows its refusal.

import { Button } from "@mantine/core";
import { useNavigate, useRouterState, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { textOrEmpty } from "../../../src/core/text/json.ts";
import type { SignInReply } from "../api/auth.ts";
import { RequestError } from "../api/client.ts";
import { queryClient } from "../api/queries.ts";
import { useChange } from "../parts/ask.tsx";
import { Form } from "../parts/form.tsx";
import { t } from "../texts.ts";

interface EntryFormProps {
  readonly action: string;
  readonly run: () => Promise<unknown>;
  readonly children?: ReactNode;
}

export function EntryForm({ action, run, children }: EntryFormProps) {
  const change = useChange(run);
  return (
    <Form submit={change.start}>
      {children}
      <EntryRefusal error={change.error} />
      <Button type="submit" fullWidth loading={change.busy}>
        {action}
      </Button>
    </Form>
  );
}

/** Shows a refusal, in our own words if we have some. */
export function EntryRefusal({ error }: { readonly error: Error | null }) {
  if (error === null) return null;
  return (
    <p className="small danger" role="alert">
      {refusal(error)}
    </p>
  );
}

const TOO_MANY = 429;

/** Refusals of sign-in in our own words; others as the server says them. */
function refusal(error: Error): string {
  if (!(error instanceof RequestError)) return error.message;
  if (error.status === TOO_MANY) return t.entry.tooMany(error.retryAfterSeconds);
  const known: Readonly<Record<string, string>> = t.entry.refusals;
  return known[error.code] ?? error.message;
}

/** A field of the address, such as the token of a link. */
export function useAddressField(name: string): string {
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  return textOrEmpty(search[name]);
}

/** The text behind the `#`, which browsers send to no server. Sign-in keeps it. */
function useHash(): string {
  return useRouterState({ select: ({ location }) => location.hash });
}

/** The token of a mailed link. */
export function useToken(): string {
  const hash = useHash();
  return new URLSearchParams(hash).get("token") ?? "";
}

/** True for an address of the operators' pages, which are an app of their own. */
export function isOperatorPage(address: string): boolean {
  if (!/^\/operator(?=[/?]|$)[^\s\\#]*$/.test(address)) return false;
  // A part `.` or `..` may lead out of /operator.
  return /^\/operator(?=\/|$)/.test(new URL(address, window.location.origin).pathname);
}

/**
 * Goes on to where somebody wanted to go, by way of the second factor where the reply to a sign-in
 * asks for it; only to pages of this dashboard.
 */
export function useEnter(): (reply?: SignInReply) => Promise<void> {
  const next = useAddressField("next");
  const hash = useHash();
  // Without a page to go on to, the hash is the spent token of a one-time link.
  const kept = next === "" || hash === "" ? "" : `#${hash}`;
  const navigate = useNavigate();
  return async (reply) => {
    if (reply?.twoFactorRedirect) {
      const by = reply.twoFactorMethods?.join(" ") ?? "";
      return await navigate({ to: "/two-factor", search: { next, by }, hash: kept.slice(1) });
    }
    queryClient.clear();
    if (isOperatorPage(next)) return window.location.assign(next);
    const isOurs = /^\/(?![/\\])[^\s\\]*$/.test(next) && !next.startsWith("/sign-in");
    const path = next.replace(/^\/dashboard(?=\/|$)/, "") || "/";
    const page = isOurs ? `/dashboard${path === "/" ? "" : path}` : "/dashboard";
    await navigate({ href: page + kept });
  };
}
