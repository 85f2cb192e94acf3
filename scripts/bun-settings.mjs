// Holds the settings of Bun itself, which Bun reads only from the environment that it is started
// with. The image of deploy/Dockerfile has the same settings.

export const BUN_SETTINGS = Object.freeze({
  // With the default of 256 requests, one hanging upstream could block all others.
  BUN_CONFIG_MAX_HTTP_REQUESTS: "20000",
  // Bun gives back to the system every free page of memory in use, many times a second, and must
  // then ask for it again: a tenth of the CPU of a call (D-486).
  MIMALLOC_PURGE_HOLES: "0",
  // Otherwise a garbage collection discards compiled code that is in use, if something that was
  // inlined into it is no longer used (D-486).
  BUN_JSC_forceCodeBlockLiveness: "1",
});

/**
 * Without this flag Bun reads settings from a `.env` in the folder where it is started, even from a
 * folder of strangers.
 */
export const NO_ENV_FILE = "--no-env-file";
