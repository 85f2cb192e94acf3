// Computes the code that an authenticator app shows (RFC 6238).

import { createHmac } from "node:crypto";

const STEP_SECONDS = 30;
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/**
 * The code of the app now, or of an app whose clock is this many steps ahead: one step ahead is
 * right too. Each code is taken only once.
 */
export function totp(secret: string, stepsAhead = 0): string {
  const bits = [...secret].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, "0"));
  const bytes = bits.join("").match(/.{8}/g) ?? [];
  const key = Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  const step = Math.floor(Date.now() / 1_000 / STEP_SECONDS) + stepsAhead;
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac("sha1", key).update(counter).digest();
  const at = (digest.at(-1) ?? 0) & 15;
  return String((digest.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

/** Different codes that neither the app shows, nor an app whose clock differs by a step. */
export function wrongCodes(secret: string, count: number): string[] {
  const right = new Set([-1, 0, 1, 2].map((step) => totp(secret, step)));
  const codes = Array.from({ length: count + right.size }, (_, at) => String(100_000 + at));
  return codes.filter((code) => !right.has(code)).slice(0, count);
}
