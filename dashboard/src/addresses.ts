// Addresses of this server beside the pages, and whose pages these are.

/** The documentation of the APIs. */
export const DOCS_URL = "/docs";

/** The settings of agents and SDKs, with the address of this server. */
export const CLIENTS_URL = `${DOCS_URL}/clients`;

/** True on the pages of operators, who read accounts by an API of their own. */
export const IS_OPERATORS = /^\/operator(\/|$)/.test(window.location.pathname);
