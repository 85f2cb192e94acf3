// The parts of `farebox setup` about the brand, the public address, payments and mail. Each key is
// checked with one call before anything is written.

import { isLoopback } from "../../core/loopback.ts";
import { messageWithCause } from "../../core/text/error-message.ts";
import { PROVIDERS } from "../../payments/providers.ts";
import { greetRelay } from "../../services/mail/providers/relay-check.ts";
import { loadMailConfig, loadPaymentConfig } from "../../settings/config.ts";
import { originProblem } from "../../settings/console-config.ts";
import { CONSOLE_VARIABLES } from "../../settings/console-variables.ts";
import type { Variables } from "../../settings/environment.ts";
import { PAYMENT_VARIABLES } from "../../settings/payment-variables.ts";
import { MAIL_VARIABLES } from "../../settings/variables.ts";
import type { Asker } from "./asker.ts";
import type { Draft } from "./draft.ts";
import { quotable } from "./env-file.ts";

/** Asks for the name and the support address that customers see. */
export async function askBrand(asker: Asker, draft: Draft): Promise<void> {
  asker.say("Brand");
  await asker.ask({
    id: "brand_name",
    text: "Name of the service",
    current: textOrNull(draft.at("brand", "name")),
    check: (text) => tried(draft, ["brand", "name"], text),
  });
  if (draft.at("brand", "name") === undefined) return;
  await asker.ask({
    id: "support_email",
    text: "Address where customers ask for help",
    current: textOrNull(draft.at("brand", "support_email")),
    check: (text) => tried(draft, ["brand", "support_email"], text),
  });
}

function tried(draft: Draft, path: readonly string[], text: string): string {
  draft.tryPut(path, text);
  return text;
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** Asks where people open the dashboard. */
export async function askAddress(asker: Asker, draft: Draft): Promise<void> {
  asker.say("Address");
  await askVariable(asker, draft, {
    id: "console_url",
    text: "Public address, such as https://api.example.com; none: only this machine",
    variable: "CONSOLE_URL",
    table: CONSOLE_VARIABLES,
    check: (text) => {
      const problem = originProblem(CONSOLE_VARIABLES.CONSOLE_URL.kind.parse(text));
      if (problem !== null) throw new RangeError(`${problem}, but is '${text}'`);
    },
  });
}

/**
 * Reports a server that failed its check, and keeps its settings, because the operator did not
 * change the settings. The setup goes on, so that a second run can change other settings.
 */
export function keep(asker: Asker, draft: Draft, problem: string): void {
  asker.say(`  This does not work, and stays as it is: ${problem}.`);
  draft.problems.push(problem);
}

/** Asks for the keys of Stripe until Stripe takes them, or the person gives none. */
export async function askPayments(asker: Asker, draft: Draft, now: () => number): Promise<void> {
  asker.say(`Payments by Stripe; without a key ${withoutKey(draft)}`);
  const before = draft.snapshot();
  for (;;) {
    const key = await askVariable(asker, draft, {
      id: "stripe_secret_key",
      text: "Secret key (not shown)",
      variable: "STRIPE_SECRET_KEY",
      table: PAYMENT_VARIABLES,
    });
    if (key === null) return;
    const webhook = await askVariable(asker, draft, {
      id: "stripe_webhook_secret",
      text: "Signing secret of the webhook (not shown)",
      variable: "STRIPE_WEBHOOK_SECRET",
      table: PAYMENT_VARIABLES,
    });
    const back = await askVariable(asker, draft, {
      id: "stripe_return_url",
      text: "Where payers come back to",
      variable: "STRIPE_RETURN_URL",
      table: PAYMENT_VARIABLES,
      fallback: billingPageOf(draft),
    });
    const missing = webhook === null ? "stripe_webhook_secret" : "stripe_return_url";
    if (webhook === null || back === null) {
      before.restore();
      return asker.refuse(missing, "is needed with the key; payments stay as they are");
    }
    const problem = await stripeProblem(draft, now);
    if (problem === null) return;
    if (before.isKept()) return keep(asker, draft, `Stripe: ${problem}`);
    before.restore();
    asker.refuse("stripe_secret_key", `Stripe: ${problem}`);
  }
}

/** Says how customers pay without a key. A public address starts no sandbox (D-550). */
export function withoutKey(draft: Draft): string {
  const url = draft.variable("CONSOLE_URL");
  return url === null || isLoopback(new URL(url).hostname)
    ? "the sandbox of npm start plays Stripe, without money"
    : "nobody can pay: with a public address no sandbox starts";
}

/** The page that leads each person to the billing of their own account. */
function billingPageOf(draft: Draft): string | null {
  const origin = draft.variable("CONSOLE_URL");
  return origin === null ? null : new URL("/dashboard/billing", origin).href;
}

/** Asks Stripe for the events of this moment. Null if Stripe answers. */
async function stripeProblem(draft: Draft, now: () => number): Promise<string | null> {
  try {
    const config = loadPaymentConfig(draft.environment);
    if (config === null) return "no key is set";
    const provider = PROVIDERS[config.kind].open({ ...config, now });
    for await (const _ of provider.listEvents(new Date(now()))) break;
  } catch (error) {
    return messageWithCause(error);
  }
  draft.findings.push("Stripe takes the key");
  return null;
}

/** Asks for the mail server until it takes the login, or the person gives none. */
export async function askMail(asker: Asker, draft: Draft): Promise<void> {
  asker.say("Mail; without a server none leaves this machine");
  const before = draft.snapshot();
  for (;;) {
    const url = await askVariable(asker, draft, {
      id: "mail_smtp_url",
      text: "Mail server, smtp://USER:PASSWORD@HOST:587 (not shown)",
      variable: "MAIL_SMTP_URL",
      table: MAIL_VARIABLES,
    });
    if (url === null) return;
    const domain = await askVariable(asker, draft, {
      id: "mail_domain",
      text: "Domain that mail is sent from",
      variable: "MAIL_DOMAIN",
      table: MAIL_VARIABLES,
    });
    if (domain === null) {
      before.restore();
      return asker.refuse("mail_domain", "is needed with the server; mail stays as it is");
    }
    const { relay } = loadMailConfig(draft.environment);
    if (relay === null) throw new Error("The mail server was lost");
    const greeted = await greetRelay(relay);
    if (greeted.ok) {
      draft.findings.push(`${relay.host} takes our mail`);
      return;
    }
    const problem = `${relay.host}: ${greeted.problem}`;
    if (before.isKept()) return keep(asker, draft, problem);
    before.restore();
    asker.refuse("mail_smtp_url", problem);
  }
}

interface VariableQuestion {
  readonly id: string;
  readonly text: string;
  readonly variable: string;
  readonly table: Variables;
  /** The value that is proposed if nothing is set. */
  readonly fallback?: string | null;
  /** A rule besides that of the setting. @throws RangeError */
  readonly check?: (text: string) => void;
}

/** Asks for the value of a setting, and checks it as the servers do. */
async function askVariable(
  asker: Asker,
  draft: Draft,
  { id, text, variable, table, fallback = null, check }: VariableQuestion,
): Promise<string | null> {
  const setting = table[variable];
  if (setting === undefined) throw new Error(`There is no setting ${variable}`);
  const answer = await asker.ask({
    id,
    text,
    current: draft.variable(variable) ?? fallback,
    ...(setting.isSecret === true && { isSecret: true }),
    check: (value) => {
      setting.kind.parse(value);
      check?.(value);
      return quotable(value);
    },
  });
  if (answer !== null) draft.set(variable, answer);
  return answer;
}
