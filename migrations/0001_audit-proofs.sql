ALTER TABLE "operations" ADD COLUMN "applied_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "operations" ADD COLUMN "digest" text;