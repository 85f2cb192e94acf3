// Limits the length of each text that people enter in forms. The schemas of the console's bodies
// and the fields of its pages follow from these rows; pages may import this file.

export interface FormField {
  readonly charactersMin: number;
  readonly charactersMax: number;
}

export const FORM_FIELDS = {
  /** The name of a person, an account, a key or a passkey: one line. */
  name: { charactersMin: 1, charactersMax: 64 },
  email: { charactersMin: 1, charactersMax: 254 },
  newPassword: { charactersMin: 10, charactersMax: 128 },
  /** A password that was chosen before; its rule may have been another one. */
  password: { charactersMin: 1, charactersMax: 128 },
  /** The digits of a code that is mailed, or that an app shows. */
  code: { charactersMin: 6, charactersMax: 6 },
  backupCode: { charactersMin: 1, charactersMax: 16 },
  /** The code of a voucher, as it is typed. */
  voucher: { charactersMin: 1, charactersMax: 64 },
  /** The name of a batch of vouchers, and a whole number of it. */
  batch: { charactersMin: 1, charactersMax: 64 },
  count: { charactersMin: 1, charactersMax: 7 },
  /** The reason of an operator's change. */
  reason: { charactersMin: 1, charactersMax: 300 },
  /** An amount of an operator's change, with its sign; the server checks its size. */
  amount: { charactersMin: 1, charactersMax: 32 },
  /** The address of a webhook. */
  webhookUrl: { charactersMin: 1, charactersMax: 500 },
  /** A note about a webhook. */
  webhookNote: { charactersMin: 0, charactersMax: 64 },
  /** The id of a model that is paused. */
  model: { charactersMin: 1, charactersMax: 200 },
} as const satisfies Readonly<Record<string, FormField>>;
