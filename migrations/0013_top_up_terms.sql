CREATE TABLE "bonus_claims" (
	"account" bigint PRIMARY KEY NOT NULL,
	"email" text,
	"provider" text NOT NULL,
	"fingerprint" text,
	"top_up" bigint NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "bonus_claims_email_unique" UNIQUE("email")
);
--> statement-breakpoint
ALTER TABLE "payments" DROP CONSTRAINT "payments_amounts";--> statement-breakpoint
ALTER TABLE "top_ups" DROP CONSTRAINT "top_ups_amounts";--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "tax" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "receipt_url" text;--> statement-breakpoint
ALTER TABLE "top_ups" ADD COLUMN "fee" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "bonus_claims" ADD CONSTRAINT "bonus_claims_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "bonus_claims" ADD CONSTRAINT "bonus_claims_top_up_top_ups_number_fk" FOREIGN KEY ("top_up") REFERENCES "public"."top_ups"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "bonus_claims_card" ON "bonus_claims" USING btree ("provider","fingerprint");--> statement-breakpoint
ALTER TABLE "payments" ADD CONSTRAINT "payments_amounts" CHECK ("payments"."amount" > 0 AND "payments"."fee" >= 0 AND "payments"."tax" >= 0 AND "payments"."bonus" >= 0
        AND "payments"."refunded" BETWEEN 0 AND "payments"."amount"
        AND "payments"."disputed" BETWEEN 0 AND "payments"."amount");--> statement-breakpoint
ALTER TABLE "top_ups" ADD CONSTRAINT "top_ups_amounts" CHECK ("top_ups"."amount" > 0 AND "top_ups"."fee" >= 0 AND "top_ups"."bonus" >= 0);