import { walletModelSuite } from "./wallet-suite.ts";

walletModelSuite(1_000, 300_000);
