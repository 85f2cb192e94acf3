/** What every mail request asks of an account, but for a price. */
export const MAIL_TERMS = { scope: "mail", service: "mail", model: null } as const;
