ALTER TABLE "keys" ADD COLUMN "disabled_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "ends_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "models" text[];--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "tags" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "requests_per_minute" integer;--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "requests_per_day" integer;--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "tokens_per_minute" integer;