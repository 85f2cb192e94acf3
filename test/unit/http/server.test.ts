import { expect, test } from "bun:test";
import { CHAT } from "../../../src/core/access/limits.ts";
import { LISTEN_OPTIONS } from "../../../src/http/server.ts";

/** The time that Caddy keeps an idle connection, the longest of the proxies in `deploy`. */
const PROXY_KEEPS_SECONDS = 120;
/** Bun may close an idle connection earlier by this much. */
const BUN_EARLY_MS = 4_000;
/** A longer time is an error in Bun. */
const BUN_SECONDS_MAX = 255;

test("a proxy closes an idle connection before the API does", () => {
  expect(LISTEN_OPTIONS.idleTimeout).toBeGreaterThan(PROXY_KEEPS_SECONDS);
  expect(LISTEN_OPTIONS.idleTimeout).toBeLessThanOrEqual(BUN_SECONDS_MAX);
});

test("a silent stream is ended with its reason before its connection counts as idle", () => {
  expect(LISTEN_OPTIONS.idleTimeout * 1_000 - BUN_EARLY_MS).toBeGreaterThan(CHAT.streamIdleMs);
});
