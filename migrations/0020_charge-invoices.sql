ALTER TABLE "top_ups" ADD COLUMN "invoice_due_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "top_ups" ADD COLUMN "invoiced_at" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "top_ups_invoice_due" ON "top_ups" USING btree ("invoice_due_at") WHERE "top_ups"."invoice_due_at" IS NOT NULL AND "top_ups"."status" = 'succeeded';