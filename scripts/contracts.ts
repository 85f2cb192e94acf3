// `npm run contracts`: holds what we ask of Stripe, and our sandbox, against Stripe's own OpenAPI
// document and stripe-mock. The first run builds stripe-mock with Go, below .farebox/tools.

import { prepareStripeMock } from "../test/payments/contract/stripe-mock.ts";
import { isCi } from "../test/support/toolchains.ts";
import { PROJECT } from "./home.mjs";

const found = await prepareStripeMock();
if ("missing" in found) {
  console.log(`The contract with Stripe is not checked: ${found.missing}`);
  process.exit(isCi() ? 1 : 0);
}
const tests = Bun.spawn(["node", "scripts/test.mjs", "test/payments/contract"], {
  cwd: PROJECT,
  stdio: ["ignore", "inherit", "inherit"],
});
process.exit(await tests.exited);
