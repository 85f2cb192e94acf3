// Addresses of this server beside the pages.

/** The documentation of the APIs. */
export const DOCS_URL = "/docs";
