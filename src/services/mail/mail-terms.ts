/** What every mail request requests from an account, except its price. */
export const MAIL_TERMS = { scope: "mail", service: "mail", model: null } as const;
