CREATE TABLE "plan_charges" (
	"top_up" bigint PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"plan" text NOT NULL,
	"price" bigint NOT NULL,
	"consent_version" text NOT NULL,
	"consent_at" timestamp with time zone NOT NULL,
	"paid_from" timestamp with time zone NOT NULL,
	"paid_until" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "plan_subscriptions" (
	"account" bigint PRIMARY KEY NOT NULL,
	"state" text NOT NULL,
	"end_reason" text,
	"plan" text NOT NULL,
	"price" bigint NOT NULL,
	"next_plan" text,
	"next_price" bigint,
	"card" bigint NOT NULL,
	"consent_version" text NOT NULL,
	"consent_at" timestamp with time zone NOT NULL,
	"anchor" timestamp with time zone NOT NULL,
	"paid_from" timestamp with time zone NOT NULL,
	"paid_until" timestamp with time zone NOT NULL,
	"changed_at" timestamp with time zone NOT NULL,
	CONSTRAINT "plan_subscriptions_period" CHECK ("plan_subscriptions"."paid_from" < "plan_subscriptions"."paid_until"),
	CONSTRAINT "plan_subscriptions_ended" CHECK (("plan_subscriptions"."end_reason" IS NOT NULL) = ("plan_subscriptions"."state" = 'ended')),
	CONSTRAINT "plan_subscriptions_next" CHECK (("plan_subscriptions"."next_price" IS NOT NULL) = coalesce("plan_subscriptions"."next_plan" <> 'free', false))
);
--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "purpose" text DEFAULT 'balance' NOT NULL;--> statement-breakpoint
ALTER TABLE "plan_charges" ADD CONSTRAINT "plan_charges_top_up_top_ups_number_fk" FOREIGN KEY ("top_up") REFERENCES "public"."top_ups"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "plan_subscriptions" ADD CONSTRAINT "plan_subscriptions_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "plan_subscriptions" ADD CONSTRAINT "plan_subscriptions_card_saved_cards_number_fk" FOREIGN KEY ("card") REFERENCES "public"."saved_cards"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "plan_subscriptions_due" ON "plan_subscriptions" USING btree ("paid_until") WHERE "plan_subscriptions"."state" = 'active';--> statement-breakpoint
CREATE UNIQUE INDEX "top_ups_one_plan" ON "top_ups" USING btree ("account") WHERE "top_ups"."kind" = 'plan' AND "top_ups"."status" = 'open';