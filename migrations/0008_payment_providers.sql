CREATE TABLE "auto_top_ups" (
	"account" bigint PRIMARY KEY NOT NULL,
	"state" text NOT NULL,
	"amount" bigint NOT NULL,
	"threshold" bigint NOT NULL,
	"monthly_cap" bigint NOT NULL,
	"card" bigint NOT NULL,
	"consent_version" text NOT NULL,
	"consent_at" timestamp with time zone NOT NULL,
	"reason" text,
	"changed_at" timestamp with time zone NOT NULL,
	CONSTRAINT "auto_top_ups_amounts" CHECK ("auto_top_ups"."amount" > 0 AND "auto_top_ups"."threshold" BETWEEN 0 AND "auto_top_ups"."amount"
        AND "auto_top_ups"."monthly_cap" >= "auto_top_ups"."amount"),
	CONSTRAINT "auto_top_ups_reason" CHECK (("auto_top_ups"."reason" IS NOT NULL) = ("auto_top_ups"."state" = 'paused'))
);
--> statement-breakpoint
CREATE TABLE "provider_cursors" (
	"provider" text PRIMARY KEY NOT NULL,
	"listed_until" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "provider_customers" (
	"account" bigint NOT NULL,
	"provider" text NOT NULL,
	"customer" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "provider_customers_account_provider_pk" PRIMARY KEY("account","provider")
);
--> statement-breakpoint
CREATE TABLE "provider_events" (
	"provider" text NOT NULL,
	"id" text NOT NULL,
	"type" text NOT NULL,
	"object" text NOT NULL,
	"object_id" text NOT NULL,
	"status" text DEFAULT 'received' NOT NULL,
	"result" text,
	"attempts" integer DEFAULT 0 NOT NULL,
	"failure" text,
	"occurred_at" timestamp with time zone NOT NULL,
	"received_at" timestamp with time zone DEFAULT now() NOT NULL,
	"processed_at" timestamp with time zone,
	CONSTRAINT "provider_events_provider_id_pk" PRIMARY KEY("provider","id")
);
--> statement-breakpoint
CREATE TABLE "saved_cards" (
	"number" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "saved_cards_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"id" text NOT NULL,
	"account" bigint NOT NULL,
	"provider" text NOT NULL,
	"ref" text NOT NULL,
	"brand" text NOT NULL,
	"last_four" text NOT NULL,
	"expiry_month" smallint NOT NULL,
	"expiry_year" smallint NOT NULL,
	"consent_version" text NOT NULL,
	"consent_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"removed_at" timestamp with time zone,
	CONSTRAINT "saved_cards_id_unique" UNIQUE("id")
);
--> statement-breakpoint
CREATE TABLE "top_ups" (
	"number" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "top_ups_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"id" text NOT NULL,
	"account" bigint NOT NULL,
	"provider" text NOT NULL,
	"kind" text NOT NULL,
	"amount" bigint NOT NULL,
	"bonus" bigint DEFAULT 0 NOT NULL,
	"status" text DEFAULT 'open' NOT NULL,
	"checkout" text,
	"intent" text,
	"url" text,
	"card" bigint,
	"consent_version" text,
	"attempts" integer DEFAULT 0 NOT NULL,
	"failure" text,
	"next_attempt_at" timestamp with time zone,
	"reads" integer DEFAULT 0 NOT NULL,
	"applied_read" integer DEFAULT 0 NOT NULL,
	"payment" bigint,
	"concern" text,
	"created_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone,
	"ended_at" timestamp with time zone,
	CONSTRAINT "top_ups_id_unique" UNIQUE("id"),
	CONSTRAINT "top_ups_amounts" CHECK ("top_ups"."amount" > 0 AND "top_ups"."bonus" >= 0),
	CONSTRAINT "top_ups_paid" CHECK (("top_ups"."payment" IS NOT NULL) = ("top_ups"."status" = 'succeeded'))
);
--> statement-breakpoint
ALTER TABLE "auto_top_ups" ADD CONSTRAINT "auto_top_ups_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "auto_top_ups" ADD CONSTRAINT "auto_top_ups_card_saved_cards_number_fk" FOREIGN KEY ("card") REFERENCES "public"."saved_cards"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "provider_customers" ADD CONSTRAINT "provider_customers_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "saved_cards" ADD CONSTRAINT "saved_cards_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "top_ups" ADD CONSTRAINT "top_ups_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "top_ups" ADD CONSTRAINT "top_ups_card_saved_cards_number_fk" FOREIGN KEY ("card") REFERENCES "public"."saved_cards"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "top_ups" ADD CONSTRAINT "top_ups_payment_payments_number_fk" FOREIGN KEY ("payment") REFERENCES "public"."payments"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "provider_customers_customer" ON "provider_customers" USING btree ("provider","customer");--> statement-breakpoint
CREATE INDEX "provider_events_received" ON "provider_events" USING btree ("received_at") WHERE "provider_events"."status" = 'received';--> statement-breakpoint
CREATE UNIQUE INDEX "saved_cards_ref" ON "saved_cards" USING btree ("provider","ref");--> statement-breakpoint
CREATE INDEX "saved_cards_account" ON "saved_cards" USING btree ("account");--> statement-breakpoint
CREATE INDEX "top_ups_account" ON "top_ups" USING btree ("account");--> statement-breakpoint
CREATE UNIQUE INDEX "top_ups_checkout" ON "top_ups" USING btree ("provider","checkout");--> statement-breakpoint
CREATE UNIQUE INDEX "top_ups_intent" ON "top_ups" USING btree ("provider","intent");--> statement-breakpoint
CREATE INDEX "top_ups_open" ON "top_ups" USING btree ("created_at") WHERE "top_ups"."status" = 'open';--> statement-breakpoint
CREATE UNIQUE INDEX "top_ups_one_auto" ON "top_ups" USING btree ("account") WHERE "top_ups"."kind" = 'auto' AND "top_ups"."status" = 'open';