ALTER TABLE "burn_checks" ADD COLUMN "is_every_key" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "burn_samples" ADD COLUMN "since_month" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "month_spend_month" ON "month_spend" USING btree ("month");