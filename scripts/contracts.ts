// `npm run contracts`: checks our requests to Stripe, and our sandbox, against Stripe's own OpenAPI
// document and stripe-mock. The first run builds stripe-mock with Go, below .farebox/tools.
//
//   --build   builds it alone, for `npm run test:all`, which has the checks too

import { isCi } from "../test/support/product/toolchains.ts";
import { prepareStripeMock } from "../test/unit/payments/contract/stripe-mock.ts";
import { PROJECT } from "./local/home.mjs";

const found = await prepareStripeMock();
if ("missing" in found) {
  console.log(`The contract with Stripe is not checked: ${found.missing}`);
  process.exit(isCi() ? 1 : 0);
}
if (!process.argv.includes("--build")) {
  const tests = Bun.spawn(["node", "scripts/test.mjs", "test/unit/payments/contract"], {
    cwd: PROJECT,
    stdio: ["ignore", "inherit", "inherit"],
  });
  process.exit(await tests.exited);
}
