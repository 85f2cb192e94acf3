// Checks the signatures of Farebox, without any store or network: `farebox receipt verify` and
// `farebox statement verify`.

import { readFile } from "node:fs/promises";
import { verifyReceipt } from "../core/receipts/receipt-jws.ts";
import type { PublicJwk } from "../core/receipts/receipt-keys.ts";
import { verifyStatement } from "../core/receipts/statement-jws.ts";
import { thrownMessage } from "../core/text/error-message.ts";
import { type Answer, type Command, UsageError } from "./command.ts";

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
    const paid = `from $${opening.paid_usd} to $${closing.paid_usd}`;
    return {
      claims,
      text: `Valid. ${charged}, for ${calls.charged} calls; the paid balance went ${paid}.`,
    };
  },
});

export const receiptCommands: readonly Command[] = [verify, verifyMonth];
