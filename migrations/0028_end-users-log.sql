ALTER TABLE "request_log" ADD COLUMN "end_user" text;--> statement-breakpoint
CREATE INDEX "budget_spend_start" ON "budget_spend" USING btree ("start") WHERE "budget_spend"."start" > 0;