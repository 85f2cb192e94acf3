// Shares the settings of the JavaScript clients, and the report of a check's end.

/** The address of the product, and the answers that a client must expect. */
export const SETTINGS = {
  baseURL: setting("CLIENT_BASE_URL"),
  key: setting("CLIENT_KEY"),
  revokedKey: setting("CLIENT_REVOKED_KEY"),
  poorKey: setting("CLIENT_POOR_KEY"),
  model: setting("CLIENT_MODEL"),
  expensiveModel: setting("CLIENT_EXPENSIVE_MODEL"),
  sentence: setting("CLIENT_SENTENCE"),
} as const;

export const QUESTION = "When do I pay?";
export const TOOL_QUESTION = "What does a ride of 3 stops cost?";
export const TOOL_NAME = "get_fare";
export const TOOL_ABOUT = "What a ride costs";
export const UNKNOWN_MODEL = "unheard-of";

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === "") throw new Error(`${name} is not set`);
  return value;
}

/** Fails the check unless both are equal as JSON. */
export function expectEqual(actual: unknown, expected: unknown): void {
  const [is, want] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (is !== want) throw new Error(`${is} instead of ${want}`);
}

/** Returns the error of a call; a call that succeeds fails the check. */
export async function failureOf(call: PromiseLike<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error("The call succeeded");
}

/** Runs every check and prints one line of JSON for each. */
export async function runChecks(
  checks: Readonly<Record<string, () => Promise<void>>>,
): Promise<void> {
  for (const [check, run] of Object.entries(checks)) {
    const startMs = performance.now();
    const result = await resultOf(run);
    const ms = Math.round(performance.now() - startMs);
    console.log(JSON.stringify({ check, ...result, ms }));
  }
}

async function resultOf(run: () => Promise<void>): Promise<{ ok: boolean; detail?: string }> {
  try {
    await run();
    return { ok: true };
  } catch (error) {
    return { ok: false, detail: String(error) };
  }
}
