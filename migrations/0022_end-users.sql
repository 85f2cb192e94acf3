CREATE TABLE "end_user_budgets" (
	"number" bigint PRIMARY KEY DEFAULT nextval('budgets_number_seq') NOT NULL,
	"account" bigint NOT NULL,
	"key" bigint,
	"end_user" text,
	"span" text NOT NULL,
	"amount" bigint NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"removed_at" timestamp with time zone,
	CONSTRAINT "end_user_budgets_amount" CHECK ("end_user_budgets"."amount" >= 0),
	CONSTRAINT "end_user_budgets_owner" CHECK ("end_user_budgets"."key" IS NULL OR "end_user_budgets"."end_user" IS NULL)
);
--> statement-breakpoint
CREATE TABLE "end_user_counts" (
	"number" bigint PRIMARY KEY DEFAULT nextval('budgets_number_seq') NOT NULL,
	"budget" bigint NOT NULL,
	"end_user" text NOT NULL,
	"seen_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "end_user_budgets" ADD CONSTRAINT "end_user_budgets_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "end_user_budgets" ADD CONSTRAINT "end_user_budgets_key_keys_number_fk" FOREIGN KEY ("key") REFERENCES "public"."keys"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "end_user_counts" ADD CONSTRAINT "end_user_counts_budget_end_user_budgets_number_fk" FOREIGN KEY ("budget") REFERENCES "public"."end_user_budgets"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "end_user_budgets_live" ON "end_user_budgets" USING btree ("account",coalesce("key", 0),coalesce("end_user", ''),"span") WHERE "end_user_budgets"."removed_at" IS NULL;--> statement-breakpoint
CREATE INDEX "end_user_budgets_end_user" ON "end_user_budgets" USING btree ("account","end_user") WHERE "end_user_budgets"."end_user" IS NOT NULL AND "end_user_budgets"."removed_at" IS NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "end_user_counts_end_user" ON "end_user_counts" USING btree ("budget","end_user");--> statement-breakpoint
CREATE INDEX "end_user_counts_seen" ON "end_user_counts" USING btree ("seen_at");