CREATE TABLE "budgets" (
	"number" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "budgets_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"account" bigint NOT NULL,
	"key" bigint,
	"span" text NOT NULL,
	"amount" bigint NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"removed_at" timestamp with time zone,
	CONSTRAINT "budgets_amount" CHECK ("budgets"."amount" >= 0)
);
--> statement-breakpoint
CREATE TABLE "budget_spend" (
	"account" bigint NOT NULL,
	"budget" bigint NOT NULL,
	"start" bigint NOT NULL,
	"spent" bigint NOT NULL,
	CONSTRAINT "budget_spend_account_budget_start_pk" PRIMARY KEY("account","budget","start")
);
--> statement-breakpoint
ALTER TABLE "ledger_entries" ADD COLUMN "budgets" text;--> statement-breakpoint
ALTER TABLE "budgets" ADD CONSTRAINT "budgets_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "budgets" ADD CONSTRAINT "budgets_key_keys_number_fk" FOREIGN KEY ("key") REFERENCES "public"."keys"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "budgets_live" ON "budgets" USING btree ("account",coalesce("key", 0),"span") WHERE "budgets"."removed_at" IS NULL;