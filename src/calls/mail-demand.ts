/** What every mail request asks of an account, but for a price. */
export const MAIL_DEMAND = { scope: "mail", service: "mail", model: null } as const;
