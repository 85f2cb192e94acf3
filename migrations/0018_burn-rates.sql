CREATE TABLE "burn_alarms" (
	"number" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "burn_alarms_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"account" bigint NOT NULL,
	"key" bigint NOT NULL,
	"rule" text NOT NULL,
	"amount" bigint NOT NULL,
	"times" integer,
	"action" text NOT NULL,
	"requests_per_minute" integer,
	"minutes" integer,
	"spent" bigint NOT NULL,
	"threshold" bigint NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"ends_at" timestamp with time zone,
	"ended_at" timestamp with time zone,
	"over_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "burn_checks" (
	"at" timestamp with time zone PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE "burn_rules" (
	"number" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "burn_rules_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"account" bigint NOT NULL,
	"key" bigint,
	"amount" bigint NOT NULL,
	"times" integer,
	"action" text NOT NULL,
	"requests_per_minute" integer,
	"minutes" integer,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"removed_at" timestamp with time zone,
	CONSTRAINT "burn_rules_amount" CHECK ("burn_rules"."amount" > 0)
);
--> statement-breakpoint
CREATE TABLE "burn_samples" (
	"key" bigint NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"spent" bigint NOT NULL,
	CONSTRAINT "burn_samples_key_at_pk" PRIMARY KEY("key","at")
);
--> statement-breakpoint
ALTER TABLE "burn_alarms" ADD CONSTRAINT "burn_alarms_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "burn_alarms" ADD CONSTRAINT "burn_alarms_key_keys_number_fk" FOREIGN KEY ("key") REFERENCES "public"."keys"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "burn_rules" ADD CONSTRAINT "burn_rules_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "burn_rules" ADD CONSTRAINT "burn_rules_key_keys_number_fk" FOREIGN KEY ("key") REFERENCES "public"."keys"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "burn_alarms_open" ON "burn_alarms" USING btree ("key","rule") WHERE "burn_alarms"."over_at" IS NULL;--> statement-breakpoint
CREATE INDEX "burn_alarms_lasting" ON "burn_alarms" USING btree ("account") WHERE "burn_alarms"."ends_at" IS NOT NULL AND "burn_alarms"."ended_at" IS NULL;--> statement-breakpoint
CREATE INDEX "burn_alarms_account" ON "burn_alarms" USING btree ("account","number");--> statement-breakpoint
CREATE INDEX "burn_rules_live" ON "burn_rules" USING btree ("account") WHERE "burn_rules"."removed_at" IS NULL;--> statement-breakpoint
CREATE INDEX "burn_samples_at" ON "burn_samples" USING btree ("at");