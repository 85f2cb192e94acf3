// The product with its dashboard and the sandbox of payments, as `npm start` runs it.

import { buildDashboard } from "../../scripts/build-dashboard.ts";
import { type Sandbox, startSandbox } from "../../src/payments/providers/sandbox/sandbox-server.ts";
import { type Product, startProduct } from "./product.ts";
import { random } from "./random.ts";
import { testDataDirectory } from "./services.ts";
import { silent } from "./silent-log.ts";

const SECRET_KEY = "sk_sandbox_of_the_browser_tests";
const WEBHOOK_SECRET = "whsec_of_the_browser_tests";

export interface DashboardProduct extends AsyncDisposable {
  readonly product: Product;
  readonly sandbox: Sandbox;
  /** Where the API and the dashboard are. */
  readonly url: string;
}

/** Starts it, with settings of a test; no mail is delivered, so answers show what was mailed. */
export async function startDashboardProduct(
  own: Readonly<Record<string, string>> = {},
): Promise<DashboardProduct> {
  await using resources = new AsyncDisposableStack();
  await buildDashboard(testDataDirectory());
  // The address of the product, which alone causes events, follows below.
  const webhook = { url: "", secret: WEBHOOK_SECRET };
  const sandbox = startSandbox({
    port: 0,
    file: null,
    secretKey: SECRET_KEY,
    webhook,
    now: Date.now,
    random,
    after: (delayMs, run) => {
      const timer = setTimeout(run, delayMs);
      return () => clearTimeout(timer);
    },
    log: silent,
  });
  resources.defer(() => sandbox.stop());
  const product = resources.use(
    await startProduct({
      apis: 1,
      models: [{ id: "ok", input: "1000", output: "2000" }],
      env: {
        SESSION_SECRET: "the session secret of the browser tests",
        CONSOLE_SHOW_MAILS: "true",
        STRIPE_SECRET_KEY: SECRET_KEY,
        STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
        STRIPE_API_BASE: sandbox.url,
        STRIPE_RETURN_URL: `${sandbox.url}/`,
        ...own,
      },
    }),
  );
  const { url } = product.api(0);
  webhook.url = `${url}/webhooks/stripe`;
  const kept = resources.move();
  return { product, sandbox, url, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
