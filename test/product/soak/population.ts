// Makes the accounts of a soak: most of them call all the time, some are new, some are always
// refused.

import type { Product } from "../../support/product/product.ts";
import type { Random } from "../../support/random.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

export const MODELS = [
  { id: "ok" },
  { id: "stream", mood: "tokens-12-every-10" },
  { id: "long", mood: "tokens-60-every-25" },
  { id: "paid-only", freeEligible: false },
] as const;

export interface PopulationSize {
  readonly gateway: number;
  readonly application: number;
}

const KEYS_AN_ACCOUNT = 3;
const SCOPES = ["models", "search", "maps", "mail"] as const;
const CONTRACT = { contract: "enterprise", paid: "10000" } as const;

export class Population {
  readonly #gateway: string[] = [];
  readonly #application: string[] = [];
  /** The number of accounts made so far. */
  made = 0;

  private constructor(
    readonly product: Product,
    readonly random: Random,
    /** A key of each kind that is refused. */
    readonly refused: { readonly poor: string; readonly narrow: string; readonly busy: string },
  ) {}

  static async make(product: Product, random: Random, size: PopulationSize): Promise<Population> {
    const keyOf = async (account: Promise<TestAccount>) => (await account).key;
    const self = new Population(product, random, {
      poor: await keyOf(product.account({ contract: "enterprise" })),
      narrow: await keyOf(product.account({ ...CONTRACT, scopes: ["search"] })),
      busy: await keyOf(product.account({})),
    });
    for (let made = 0; made < size.gateway; made += 1) await self.addGateway();
    for (let made = 0; made < size.application; made += 1) await self.addApplication();
    return self;
  }

  gatewayKey(): string {
    return this.random.pick(this.#gateway);
  }

  applicationKey(): string {
    return this.random.pick(this.#application);
  }

  /** Replaces the oldest account by a new one; the oldest is not used any more. */
  async replaceOne(): Promise<void> {
    await this.addGateway();
    this.#gateway.splice(0, KEYS_AN_ACCOUNT);
  }

  async addGateway(): Promise<void> {
    const keys = await this.#keysOf({ ...CONTRACT, scopes: SCOPES });
    this.#gateway.push(...keys);
  }

  async addApplication(): Promise<void> {
    const terms = { surface: "application", plan: "max", paid: "10000" } as const;
    this.#application.push(...(await this.#keysOf(terms)));
  }

  async #keysOf(terms: Parameters<Product["account"]>[0]): Promise<string[]> {
    const { id, key } = await this.product.account(terms);
    this.made += 1;
    const keys = [key];
    while (keys.length < KEYS_AN_ACCOUNT) {
      keys.push((await this.product.newKey(id, terms)).key);
    }
    return keys;
  }
}
