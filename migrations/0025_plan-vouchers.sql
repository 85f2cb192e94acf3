DROP INDEX "webhook_deliveries_due";--> statement-breakpoint
ALTER TABLE "plan_subscriptions" ALTER COLUMN "card" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "plan_subscriptions" ALTER COLUMN "consent_version" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "plan_subscriptions" ALTER COLUMN "consent_at" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "voucher_redemptions" ALTER COLUMN "operation" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "vouchers" ALTER COLUMN "amount" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "voucher_redemptions" ADD COLUMN "plan_until" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "vouchers" ADD COLUMN "plan" text;--> statement-breakpoint
ALTER TABLE "vouchers" ADD COLUMN "months" integer;--> statement-breakpoint
CREATE INDEX "webhook_deliveries_due" ON "webhook_deliveries" USING btree ("receiver","next_attempt_at","number") WHERE "webhook_deliveries"."status" = 'waiting';--> statement-breakpoint
ALTER TABLE "plan_subscriptions" ADD CONSTRAINT "plan_subscriptions_consent" CHECK (num_nulls("plan_subscriptions"."card", "plan_subscriptions"."consent_version", "plan_subscriptions"."consent_at") IN (0, 3)
        AND ("plan_subscriptions"."card" IS NOT NULL OR ("plan_subscriptions"."price" = 0 AND "plan_subscriptions"."next_price" IS NULL)));--> statement-breakpoint
ALTER TABLE "plan_subscriptions" ADD CONSTRAINT "plan_subscriptions_given" CHECK ("plan_subscriptions"."price" > 0 OR "plan_subscriptions"."state" = 'ended' OR "plan_subscriptions"."next_plan" IS NOT NULL);--> statement-breakpoint
ALTER TABLE "voucher_redemptions" ADD CONSTRAINT "voucher_redemptions_gift" CHECK (num_nulls("voucher_redemptions"."operation", "voucher_redemptions"."plan_until") = 1);--> statement-breakpoint
ALTER TABLE "vouchers" ADD CONSTRAINT "vouchers_months" CHECK ("vouchers"."months" > 0);--> statement-breakpoint
ALTER TABLE "vouchers" ADD CONSTRAINT "vouchers_gift" CHECK (num_nulls("vouchers"."amount", "vouchers"."plan") = 1
        AND num_nulls("vouchers"."plan", "vouchers"."months") IN (0, 2)
        AND ("vouchers"."plan" IS NULL OR "vouchers"."free_days" IS NULL));