import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "postgresql",
  schema: [
    "./src/store/tables/account-schema.ts",
    "./src/store/tables/schema.ts",
    "./src/store/tables/mail-schema.ts",
    "./src/store/tables/payment-schema.ts",
    "./src/store/tables/voucher-schema.ts",
    "./src/store/tables/people-schema.ts",
    "./src/store/tables/outbox-schema.ts",
    "./src/store/tables/usage-schema.ts",
    "./src/store/tables/operator-schema.ts",
    "./src/store/tables/configuration-schema.ts",
    "./src/store/tables/index-schema.ts",
    "./src/store/tables/receipt-schema.ts",
    "./src/store/tables/webhook-schema.ts",
    "./src/store/tables/burn-schema.ts",
    "./src/store/tables/end-user-schema.ts",
  ],
  out: "./migrations",
});
