import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "postgresql",
  schema: [
    "./src/store/account-schema.ts",
    "./src/store/schema.ts",
    "./src/store/mail-schema.ts",
    "./src/store/payment-schema.ts",
    "./src/store/people-schema.ts",
    "./src/store/outbox-schema.ts",
    "./src/store/usage-schema.ts",
    "./src/store/operator-schema.ts",
    "./src/store/configuration-schema.ts",
    "./src/store/index-schema.ts",
  ],
  out: "./migrations",
});
