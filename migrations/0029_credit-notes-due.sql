ALTER TABLE "refund_attempts" ADD COLUMN "made_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "refund_attempts" ADD COLUMN "credit_note_due_at" timestamp with time zone;