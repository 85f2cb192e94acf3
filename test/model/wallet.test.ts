import { walletModelSuite } from "./wallet-suite.ts";

walletModelSuite(300, 300_000);
