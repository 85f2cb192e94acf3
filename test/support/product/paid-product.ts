// Runs the product with the sandbox of payments in this process, where it outlives every kill.

import {
  type Sandbox,
  type SandboxOptions,
  startSandbox,
} from "../../../src/annexes/stripe-sandbox/sandbox-server.ts";
import { realClock } from "../fakes/fake-clock.ts";
import { silent } from "../fakes/silent-log.ts";
import { random } from "../random.ts";
import { type Product, type ProductOptions, startProduct } from "./product.ts";

const SECRET_KEY = "sk_sandbox_of_the_tests";
const WEBHOOK_SECRET = "whsec_of_the_tests";

export interface PaidProduct extends AsyncDisposable {
  readonly product: Product;
  readonly sandbox: Sandbox;
  /** The settings of payments, for commands too. */
  readonly env: Readonly<Record<string, string>>;
}

/** Starts both. `env` of the options takes precedence. */
export async function startPaidProduct({
  intercept,
  ...options
}: ProductOptions & Pick<SandboxOptions, "intercept">): Promise<PaidProduct> {
  await using resources = new AsyncDisposableStack();
  // The product has an address only once it runs; before that, no events occur.
  const webhook = { url: "", secret: WEBHOOK_SECRET };
  const sandbox = startSandbox({
    port: 0,
    file: null,
    secretKey: SECRET_KEY,
    webhook,
    now: Date.now,
    random,
    after: realClock.after,
    log: silent,
    ...(intercept !== undefined && { intercept }),
  });
  resources.defer(() => sandbox.stop());
  const env = {
    STRIPE_SECRET_KEY: SECRET_KEY,
    STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
    STRIPE_API_BASE: sandbox.url,
    STRIPE_RETURN_URL: `${sandbox.url}/`,
  };
  const product = resources.use(
    await startProduct({ ...options, env: { ...env, ...options.env } }),
  );
  webhook.url = `${product.api(0).url}/webhooks/stripe`;
  const kept = resources.move();
  return { product, sandbox, env, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
