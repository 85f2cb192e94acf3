import type { Product } from "../../support/product/product.ts";
import type { TestAccount } from "../../support/stores/accounts.ts";

const RICH = 5;

/** Accounts that can pay for the whole run, and a last one that soon cannot. */
export async function openAccounts(product: Product): Promise<TestAccount[]> {
  const accounts: TestAccount[] = [];
  for (let made = 0; made < RICH; made += 1) {
    accounts.push(await product.account({ paid: "100000", contract: "enterprise" }));
  }
  return [...accounts, await product.account({ contract: "enterprise" })];
}
