// The addresses of the dashboard's pages, for links in mails and answers.

type Page = "billing" | "limits" | "webhooks";

/** The page of an account in the dashboard under an origin. */
export function accountPage(origin: string, account: string, page: Page): URL {
  return new URL(`/dashboard/${account}/${page}`, origin);
}

/** The address of the page where the holder of an account finds balance, payments and cards. */
export type BillingUrl = (account: string) => string;

/** Makes addresses of billing pages; without a dashboard, always the payers' `returnUrl`. */
export function billingUrls(origin: string | null, returnUrl: string): BillingUrl {
  return (account) => (origin === null ? returnUrl : accountPage(origin, account, "billing").href);
}
