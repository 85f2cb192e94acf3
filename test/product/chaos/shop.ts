// Opens accounts that pay through the sandbox of the payment provider, and the command-line tool
// with the product's environment, as an operator has it.

import { type PaidProduct, startPaidProduct } from "../../support/product/paid-product.ts";
import type { Product, ProductOptions } from "../../support/product/product.ts";
import { cliProcess } from "../../support/product/run-cli.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

const OK_CARD = "4242424242424242";

/** The part of the answer of `farebox restore --json` that the drills read. */
export interface RestoreAnswer {
  readonly ok?: boolean;
  readonly problems?: readonly string[];
  readonly lost: {
    readonly operations: readonly { readonly account: string; readonly reference: string | null }[];
    readonly wallets_ahead: readonly {
      readonly account: string;
      readonly lost: readonly { readonly kind: string; readonly amount_usd: string }[];
    }[];
    readonly charged_usd: string;
  };
  readonly payments?: readonly { readonly account: string | null; readonly result: string }[];
}

/** A product whose payments go through a sandbox. */
export class Shop implements AsyncDisposable {
  constructor(readonly paid: PaidProduct) {}

  get product(): Product {
    return this.paid.product;
  }

  /** Opens a page for a top-up and pays it. */
  async pay({ id }: Pick<TestAccount, "id">, amount: string): Promise<void> {
    const link = await this.farebox<{ readonly url: string }>("topup", "link", id, "--usd", amount);
    await fetch(link.url, { method: "POST", body: new URLSearchParams({ card: OK_CARD }) });
  }

  /** The answer of a command, which must succeed. */
  async farebox<Answer = RestoreAnswer>(...args: readonly string[]): Promise<Answer> {
    const { code, out, err } = await this.run(...args);
    if (code !== 0) throw new Error(`farebox ${args.join(" ")}: ${err} ${out}`);
    return JSON.parse(out);
  }

  /** Runs a command of the tool; its answer is JSON. */
  async run(...args: readonly string[]) {
    const env = { ...this.product.env, ...this.paid.env };
    return await cliProcess([...args, "--json"], { env });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.paid[Symbol.asyncDispose]();
  }
}

/** Starts a product and its sandbox of payments. */
export async function openShop(options: ProductOptions): Promise<Shop> {
  return new Shop(await startPaidProduct(options));
}
