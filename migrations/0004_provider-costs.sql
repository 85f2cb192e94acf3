ALTER TABLE "margin_days" ADD COLUMN "provider_calls" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "margin_days" ADD COLUMN "provider_cost" bigint DEFAULT 0 NOT NULL;