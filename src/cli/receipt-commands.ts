// Shows signed receipts and statements, and checks the signatures of Farebox, without any store or
// network: `farebox receipt verify` and `farebox statement verify`.

import { readFile } from "node:fs/promises";
import { findAccount } from "../accounts/administration.ts";
import { AdministrationError } from "../core/errors.ts";
import { dollarText } from "../core/money/money.ts";
import { verifyReceipt } from "../core/receipts/receipt-jws.ts";
import { type PublicJwk, receiptKeyOf } from "../core/receipts/receipt-keys.ts";
import { verifyStatement } from "../core/receipts/statement-jws.ts";
import { counted } from "../core/text/counted.ts";
import { thrownMessage } from "../core/text/error-message.ts";
import { issuedReceiptReply } from "../readings/signed/issued-receipt.ts";
import { issuerOf, SignedReceipts } from "../readings/signed/signed-receipts.ts";
import { type StatementReply, statementReply } from "../readings/signed/signed-statement.ts";
import { type Answer, type Command, UsageError } from "./command.ts";
import { readAsConsole } from "./list-command.ts";
import { tryFlush } from "./operation/log-commands.ts";
import { indented, table } from "./print.ts";
import { accountSource } from "./reading-commands.ts";
import type { Stores } from "./stores.ts";
import { begunMonthOf, idOf } from "./values.ts";

/** The check of one kind of signed document. */
interface Verifying {
  readonly name: string;
  readonly summary: string;
  /** The claims, and the text to print. Throws an error that says why the JWS is not valid. */
  verify(
    jws: string,
    keys: readonly PublicJwk[],
  ): Promise<{ readonly claims: object; readonly text: string }>;
}

/** A command that checks a signed document in a file with the public keys in another one. */
export function verifyCommand({ name, summary, verify }: Verifying): Command {
  return {
    name,
    positionals: ["FILE"],
    summary,
    options: {
      keys: {
        value: "FILE",
        help: "the public keys: what /.well-known/jwks.json answered",
        required: true,
      },
    },
    comparesSecrets: false,
    prepare({ positionals: [file = ""], values }) {
      const keysFile = values.get("keys") ?? "";
      return async (): Promise<Answer> => {
        const [signed, keys] = await Promise.all([
          readFile(file, "utf8"),
          readFile(keysFile, "utf8"),
        ]);
        try {
          const { claims, text } = await verify(jwsIn(signed), keysIn(keys));
          return { json: { valid: true, claims }, text };
        } catch (error) {
          if (error instanceof UsageError) throw error;
          const reason = thrownMessage(error);
          return { json: { valid: false, reason }, text: `Not valid: ${reason}`, failed: true };
        }
      };
    },
  };
}

/** The JWS in a file: alone, or in an object such as the reply of GET /v1/receipts/{id}. */
function jwsIn(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith("{")) return trimmed;
  const reply = JSON.parse(trimmed) as { readonly jws?: unknown };
  if (typeof reply.jws !== "string") throw new UsageError("FILE has no member 'jws'");
  return reply.jws;
}

/** The key set in a file. */
function keysIn(text: string): readonly PublicJwk[] {
  const set = JSON.parse(text) as { readonly keys?: unknown };
  if (!Array.isArray(set.keys)) throw new UsageError("--keys must be a file with a key set (JWKS)");
  return set.keys as PublicJwk[];
}

const verify = verifyCommand({
  name: "receipt verify",
  summary: "Check the signature of a receipt, offline, and print what it says",
  async verify(jws, keys) {
    const claims = await verifyReceipt(jws, keys);
    const { cost_usd, model, service, at } = claims.receipt;
    const what = model === null ? service : `${service} by ${model}`;
    const charged = `${claims.iss} charged account ${claims.sub} $${cost_usd}`;
    return { claims, text: `Valid. ${charged} for ${what} at ${at}.` };
  },
});

const verifyMonth = verifyCommand({
  name: "statement verify",
  summary: "Check the signature of a month's statement, offline, and print what it says",
  async verify(jws, keys) {
    const claims = await verifyStatement(jws, keys);
    const { month, calls, opening, closing } = claims.statement;
    const charged = `${claims.iss} charged account ${claims.sub} $${calls.cost_usd} in ${month}`;
    const number = counted(calls.charged, "call");
    const paid = `from $${opening.paid_usd} to $${closing.paid_usd}`;
    return {
      claims,
      text: `Valid. ${charged}, for ${number}; the paid balance went ${paid}.`,
    };
  },
});

const show: Command = {
  name: "receipt show",
  positionals: ["ID", "REQUEST"],
  summary: "Show the signed receipt of any call of an account; the first time it is issued",
  options: {},
  prepare(input) {
    const accountId = idOf(input, "account");
    const request = idOf(input, "request", 1);
    return async (stores): Promise<Answer> => {
      const { id } = await findAccount(stores.administration, accountId);
      const receipts = await receiptsOf(stores);
      const reply = await readAsConsole(issuedReceiptReply({ receipts }, id, request));
      const { number, corrects, jws } = reply;
      const correction = corrects === null ? "" : `, which corrects no. ${corrects}`;
      const text = `receipt no. ${number} of ${request}${correction}\n${jws}`;
      return { json: { ...reply }, text };
    };
  },
};

const showMonth: Command = {
  name: "statement show",
  positionals: ["ID"],
  summary: "Show the signed statement of a month of an account: balances, changes and charges",
  options: {
    month: { value: "MONTH", help: "the UTC month, such as 2026-11", required: true },
  },
  prepare(input) {
    const id = idOf(input, "account");
    const month = begunMonthOf(input, "month");
    return async (stores): Promise<Answer> => {
      const source = await accountSource(stores, id);
      const receipts = await receiptsOf(stores);
      await tryFlush(stores);
      const signing = { receipts, nowMs: input.nowMs };
      const reply = await readAsConsole(statementReply(source, month, signing));
      return { json: { ...reply }, text: `statement of ${id}\n${statementText(reply)}` };
    };
  },
};

function statementText({ statement, jws }: StatementReply): string {
  const { month, is_over: isOver, opening, entries, closing, calls, charges } = statement;
  const amounts = (one: { readonly paid_usd: string; readonly free_usd: string }) => [
    dollarText(one.paid_usd),
    dollarText(one.free_usd),
  ];
  const balances = table([
    ["", "count", "paid", "free"],
    ["opening", "", ...amounts(opening)],
    ...entries.map((entry) => [entry.kind, String(entry.count), ...amounts(entry)]),
    ["closing", "", ...amounts(closing)],
  ]);
  const owed = closing.owed_usd === "0" ? [] : [`owed ${dollarText(closing.owed_usd)}`];
  const charged = `${calls.charged} calls were charged ${dollarText(calls.cost_usd)}`;
  const models = charges.map((one) => [one.service, one.model ?? "-", dollarText(one.cost_usd)]);
  return [
    `month ${month}${isOver ? "" : ", which has not ended"}`,
    indented(balances),
    ...owed,
    charged,
    ...(models.length === 0 ? [] : [indented(table(models))]),
    jws,
  ].join("\n");
}

/**
 * The receipts as the servers issue them. Refuses a key that is not the servers' current one: a
 * receipt signed with it could not be verified, but would be stored.
 */
async function receiptsOf(stores: Stores): Promise<SignedReceipts> {
  const { database, administration, consoleOrigin, receiptSecrets } = stores;
  const key = receiptKeyOf(receiptSecrets[0]);
  const issuer = issuerOf(consoleOrigin);
  const receipts = new SignedReceipts({ database, clock: administration, key, issuer });
  const { kid } = key.publicJwk;
  const isCurrent = (await receipts.keys()).some(
    (one) => one.kid === kid && one.retired_at === undefined,
  );
  if (isCurrent) return receipts;
  const message = "RECEIPT_SECRET is not that of the servers, so nothing is signed with it";
  throw new AdministrationError("wrong_state", message);
}

export const receiptCommands: readonly Command[] = [show, verify, showMonth, verifyMonth];
