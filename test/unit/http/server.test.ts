import { expect, test } from "bun:test";
import { CHAT } from "../../../src/core/access/limits.ts";
import { LISTEN_OPTIONS } from "../../../src/http/server.ts";

/** How long Caddy keeps an idle connection, the longest of the proxies in `deploy`. */
const PROXY_KEEPS_SECONDS = 120;
/** By so much less Bun may take a connection for idle. */
const BUN_EARLY_MS = 4_000;
/** More is an error of Bun's. */
const BUN_SECONDS_MAX = 255;

test("a proxy closes an idle connection before the API does", () => {
  expect(LISTEN_OPTIONS.idleTimeout).toBeGreaterThan(PROXY_KEEPS_SECONDS);
  expect(LISTEN_OPTIONS.idleTimeout).toBeLessThanOrEqual(BUN_SECONDS_MAX);
});

test("a silent stream is ended with its reason, before its connection is taken for idle", () => {
  expect(LISTEN_OPTIONS.idleTimeout * 1_000 - BUN_EARLY_MS).toBeGreaterThan(CHAT.streamIdleMs);
});
