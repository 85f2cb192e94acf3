import { walletModelSuite } from "./wallet-suite.ts";

walletModelSuite(300, 600_000);
