ALTER TABLE "rejected_entries" ADD COLUMN "set_aside_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "rejected_entries" ADD COLUMN "set_aside_reason" text;