// Single sign-on of operators: the way to the provider, and back from there.

import { queryOptions } from "@tanstack/react-query";
import { get, post } from "./client.ts";

const SSO = "/console/auth/sign-in/sso";

/** Reads if this installation has a provider of single sign-on. */
export const ssoQuery = queryOptions({
  queryKey: ["sso"],
  queryFn: ({ signal }) => get<{ readonly is_offered: boolean }>(SSO, {}, signal),
});

/** Leaves for the provider's page; from there the way leads back to a page of operators. */
export async function leaveForSso(returnTo: string): Promise<void> {
  const { url } = await post<{ url: string }>(`${SSO}/begin`, { return_to: returnTo });
  window.location.assign(url);
}

/** Signs in with the provider's answer. Returns the page to open next. */
export async function finishSso(query: string): Promise<string> {
  const reply = await post<{ twoFactorRedirect?: boolean; return_to?: string }>(SSO, { query });
  if (reply.twoFactorRedirect === true) return "/dashboard/two-factor?next=%2Foperator";
  return reply.return_to ?? "/operator";
}
