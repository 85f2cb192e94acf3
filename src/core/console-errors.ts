// Defines the errors that only the console has: for people with sessions, not callers with keys.
// Every other refusal of the console is a row of errors.ts.

interface ConsoleErrorRow {
  readonly status: number;
  /** The case in which a person receives it, for the documentation: Markdown, half a sentence. */
  readonly when: string;
}

/** In the order in which the checks run. */
export const CONSOLE_ERRORS = {
  foreign_origin: {
    status: 403,
    when: "the request changes something and was not sent by a page of this console",
  },
  json_required: { status: 415, when: "`Content-Type` is not `application/json`" },
  not_signed_in: { status: 401, when: "there is no session, or it has ended" },
  account_not_found: {
    status: 404,
    when: "there is no such account, or the person does not belong to it",
  },
  operator_address: {
    status: 403,
    when: "operators are not allowed in from this address (`OPERATOR_ALLOWED_IPS`)",
  },
  sso_required: {
    status: 403,
    when: "an operator has not signed in through the provider, and `OPERATOR_OIDC_ONLY` is set",
  },
  second_factor_required: {
    status: 403,
    when:
      "an operator has no second factor yet, or somebody who has one has not signed in with it " +
      "and changes how they sign in",
  },
  operator_link_required: {
    status: 403,
    when:
      "an operator without a second factor has not signed in with a link of " +
      "`farebox person link` and changes how they sign in",
  },
  sso_not_configured: { status: 404, when: "the installation has no single sign-on" },
  sso_unavailable: {
    status: 503,
    when: "the provider of single sign-on does not answer, or not as its metadata says",
  },
  sso_not_valid: {
    status: 400,
    when: "the single sign-on was used, has ended, or began in another browser",
  },
  sso_refused: {
    status: 403,
    when: "what the provider of single sign-on answered is not valid; the message names the rule",
  },
  no_operator: { status: 404, when: "whoever signed in at the provider is no operator" },
  role_required: { status: 403, when: "the person's role does not include this" },
  sign_in_again: {
    status: 403,
    when: "the password was entered too long ago for what was asked",
  },
  wrong_proof: { status: 403, when: "the password or the code is wrong" },
  invalid_email_or_password: {
    status: 401,
    when: "nobody signs in with this address and password",
  },
  invalid_password: { status: 400, when: "the password is wrong, or the person has none" },
  invalid_otp: { status: 400, when: "the mailed code is wrong" },
  otp_expired: { status: 400, when: "the mailed code has ended" },
  invalid_token: { status: 400, when: "the mailed link was used, has ended, or was never sent" },
  invalid_passkey: { status: 401, when: "the passkey is not known" },
  invalid_two_factor_cookie: { status: 401, when: "no sign-in waits for a second factor" },
  code_used: { status: 401, when: "the code of the app was entered before, right or wrong" },
  invalid_code: { status: 401, when: "the code of the app is wrong" },
  invalid_backup_code: { status: 401, when: "the backup code is wrong, or was used" },
  two_factor_not_enabled: { status: 400, when: "the person has no second factor" },
  totp_not_enabled: { status: 400, when: "the person has no app as a second factor" },
  backup_codes_not_enabled: { status: 400, when: "the person has no backup codes" },
  not_possible: { status: 400, when: "a sign-in is refused for another reason" },
  link_not_valid: {
    status: 400,
    when: "the mailed link was used, has ended, or is for somebody else",
  },
  person_not_found: { status: 404, when: "the account has no such member" },
  invitation_not_found: { status: 404, when: "the account has no such open invitation" },
  session_not_found: { status: 404, when: "the person has no such session" },
  passkey_not_found: { status: 404, when: "the person has no such passkey" },
  passkey_not_valid: {
    status: 400,
    when: "the answer of the device was used, has ended, or is not for this console",
  },
  too_many_passkeys: { status: 409, when: "the person has as many passkeys as one may" },
  passkeys_unavailable: {
    status: 409,
    when: "the console is opened by an address of numbers; passkeys need a host name",
  },
  owner_only: { status: 403, when: "only an owner may make, change or remove an owner" },
  last_owner: { status: 409, when: "an account needs an owner: make somebody else one first" },
  already_member: { status: 409, when: "the person belongs to the account already" },
  too_many_accounts: { status: 409, when: "the person owns as many open accounts as one may" },
  too_many_attempts: {
    status: 429,
    when: "too many attempts of this address, inbox or account; wait for `Retry-After`",
  },
} as const satisfies Readonly<Record<string, ConsoleErrorRow>>;

export type ConsoleErrorCode = keyof typeof CONSOLE_ERRORS;

/** True for the code of a row. */
export function isConsoleErrorCode(code: string): code is ConsoleErrorCode {
  return Object.hasOwn(CONSOLE_ERRORS, code);
}

/** A refusal for a person in the console. The message is shown to them. */
export class ConsoleError extends Error {
  override readonly name = "ConsoleError";

  constructor(
    readonly code: ConsoleErrorCode,
    message: string,
    /** Whole seconds after which the same can succeed; becomes `Retry-After`. */
    readonly retryAfterSeconds?: number,
  ) {
    super(message);
  }

  get status(): number {
    return CONSOLE_ERRORS[this.code].status;
  }
}
