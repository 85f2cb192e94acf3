// Addresses of this server beside the pages.

/** The documentation of the APIs. */
export const DOCS_URL = "/docs";

/** The settings of agents and SDKs, with the address of this server. */
export const CLIENTS_URL = `${DOCS_URL}/clients`;
