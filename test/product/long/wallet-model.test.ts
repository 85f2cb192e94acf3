import { walletModelSuite } from "../model/wallet-suite.ts";

walletModelSuite(20_000, 3_600_000);
