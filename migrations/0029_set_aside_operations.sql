ALTER TABLE "operations" ADD COLUMN "set_aside_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "operations" ADD COLUMN "set_aside_reason" text;--> statement-breakpoint
ALTER TABLE "operations" ADD COLUMN "replaced_by" integer;