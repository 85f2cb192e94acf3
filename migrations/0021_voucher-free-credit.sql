ALTER TABLE "vouchers" ADD COLUMN "free_days" integer;--> statement-breakpoint
ALTER TABLE "vouchers" ADD CONSTRAINT "vouchers_free_days" CHECK ("vouchers"."free_days" > 0);