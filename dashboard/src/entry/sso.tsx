// The button that leads to the provider of single sign-on, and the page that the provider leads
// back to. Both are for operators alone.

import { Button, Loader } from "@mantine/core";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { get, post } from "../api/client.ts";
import { queryClient } from "../api/queries.ts";
import { useChange } from "../parts/ask.tsx";
import { t } from "../texts.ts";
import { EntryCard } from "./entry-card.tsx";
import { EntryRefusal } from "./entry-form.tsx";

const SSO = "/console/auth/sign-in/sso";

/** Reads if this installation has a provider of single sign-on. */
const ssoQuery = queryOptions({
  queryKey: ["sso"],
  queryFn: ({ signal }) => get<{ readonly is_offered: boolean }>(SSO, {}, signal),
});

/** Leaves for the provider's page; from there the way leads back to a page of operators. */
async function leaveForSso(returnTo: string): Promise<void> {
  const { url } = await post<{ url: string }>(`${SSO}/begin`, { return_to: returnTo });
  window.location.assign(url);
}

/** Signs in with the provider's answer. Returns the page to open next. */
async function finishSso(query: string): Promise<string> {
  const reply = await post<{ twoFactorRedirect?: boolean; return_to?: string }>(SSO, { query });
  if (reply.twoFactorRedirect === true) return "/dashboard/two-factor?next=%2Foperator";
  return reply.return_to ?? "/operator";
}

/** Draws no button if there is no provider. `returnTo` is a page of operators. */
export function SsoButton({ returnTo }: { readonly returnTo: string }) {
  const { data } = useQuery(ssoQuery);
  const change = useChange(() => leaveForSso(returnTo));
  if (data?.is_offered !== true) return null;
  return (
    <>
      <Button variant="default" fullWidth loading={change.busy} onClick={() => void change.start()}>
        {t.entry.bySso}
      </Button>
      <EntryRefusal error={change.error} />
    </>
  );
}

/** Signs in at once: the provider's answer works once, and only in the browser that began. */
export function SsoReturn() {
  const [query] = useState(() => window.location.search);
  const hasBegun = useRef(false);
  const change = useChange(async () => {
    // The address stays in the browser's history, without the secrets that it brought.
    window.history.replaceState(window.history.state, "", window.location.pathname);
    const page = await finishSso(query);
    queryClient.clear();
    window.location.assign(page);
  });
  useEffect(() => {
    if (hasBegun.current || query === "") return;
    hasBegun.current = true;
    void change.start();
  });
  const foot = <a href="/dashboard/sign-in?next=%2Foperator">{t.entry.toSignIn}</a>;
  if (query === "") return <EntryCard title={t.entry.bySso} about={t.entry.ssoEmpty} foot={foot} />;
  return (
    <EntryCard title={t.entry.bySso} foot={foot}>
      {change.error === null ? <Loader size="sm" /> : <EntryRefusal error={change.error} />}
    </EntryCard>
  );
}
