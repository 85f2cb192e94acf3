// Runs the product with its dashboard and the sandbox of payments, as `npm start` does.

import { buildDashboard } from "../../../scripts/build-dashboard.ts";
import type { Sandbox } from "../../../src/annexes/stripe-sandbox/sandbox-server.ts";
import { testDataDirectory } from "../stores/services.ts";
import { startPaidProduct } from "./paid-product.ts";
import type { Product } from "./product.ts";

export interface DashboardProduct extends AsyncDisposable {
  readonly product: Product;
  readonly sandbox: Sandbox;
  /** The address of the API and the dashboard. */
  readonly url: string;
}

/**
 * Starts it, with settings of a test; no mail is delivered, so answers show the content of mails.
 */
export async function startDashboardProduct(
  own: Readonly<Record<string, string>> = {},
): Promise<DashboardProduct> {
  await buildDashboard(testDataDirectory());
  const paid = await startPaidProduct({
    apis: 1,
    models: [{ id: "ok", input: "1000", output: "2000" }],
    env: {
      SESSION_SECRET: "the session secret of the browser tests",
      CONSOLE_SHOW_MAILS: "true",
      ...own,
    },
  });
  const { product, sandbox } = paid;
  const stop = () => paid[Symbol.asyncDispose]();
  return { product, sandbox, url: product.api(0).url, [Symbol.asyncDispose]: stop };
}
