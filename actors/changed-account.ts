// Brings every change of an account from Postgres to Redis, whichever program made it.

/** The part of an account's actor that a change uses. */
export interface ChangedAccount {
  configure(): Promise<void>;
  applyOperations(): Promise<void>;
}

/** Gives Redis an account's newest access document, then the operations that it lacks. */
export async function applyChanges(account: ChangedAccount): Promise<void> {
  await account.configure();
  await account.applyOperations();
}

/**
 * Runs `applyChanges` right after a change. Postgres keeps the change in any case, so a failure is
 * only reported: workers/completer.ts applies waiting changes. False after a failure.
 */
export async function applyChangesNow(
  account: () => ChangedAccount,
  onDelayed: (error: unknown) => void,
): Promise<boolean> {
  try {
    await applyChanges(account());
    return true;
  } catch (error) {
    onDelayed(error);
    return false;
  }
}
