// Sends requests to upstream servers as an API process does.

import { HttpClient } from "../../../src/upstream/http/http-client.ts";

export const upstreamClient = new HttpClient({ monotonicMs: () => performance.now() });
export const upstreamFetch = upstreamClient.fetch;
