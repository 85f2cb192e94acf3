// Limits the memory of the private Redis. Without a limit, a growing Redis could exhaust the
// machine. At the limit Redis refuses new calls but still settles open ones.

import { totalmem } from "node:os";

const PERCENT_DEFAULT = 70;
const UNITS = { "": 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };
/** An empty Redis with its scripts needs a few megabytes. */
const BYTES_MIN = 32 * 1024 ** 2;

/**
 * Returns the limit in bytes, from FAREBOX_REDIS_MEMORY: a share of this machine's memory, or an
 * amount.
 * @param {string | undefined} setting
 * @param {number} [memory] the available memory
 * @returns {number}
 */
export function redisMemory(setting, memory = availableMemory()) {
  const text = setting || `${PERCENT_DEFAULT}%`;
  const percent = /^(\d{1,2})%$/.exec(text)?.[1];
  const [, amount, unit = ""] = /^(\d+)([kmg]?)b?$/i.exec(text) ?? [];
  if (percent === undefined && amount === undefined) {
    throw new Error(
      `FAREBOX_REDIS_MEMORY must be a part of the memory such as 70%, or an amount such as 4gb, ` +
        `but is '${text}'.`,
    );
  }
  const bytes =
    percent === undefined
      ? Number(amount) * UNITS[/** @type {keyof typeof UNITS} */ (unit.toLowerCase())]
      : Math.floor((memory * Number(percent)) / 100);
  if (bytes >= BYTES_MIN && Number.isSafeInteger(bytes)) return bytes;
  throw new Error(
    `FAREBOX_REDIS_MEMORY '${text}' is ${bytes} bytes; Redis needs at least ${BYTES_MIN}.`,
  );
}

/** The memory of this machine, or of its cgroup if that is less. */
function availableMemory() {
  const machine = totalmem();
  // 0, or more than the machine has: the group has no limit.
  const group = process.constrainedMemory?.() ?? 0;
  return group > 0 ? Math.min(group, machine) : machine;
}
