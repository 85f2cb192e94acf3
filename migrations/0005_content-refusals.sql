ALTER TABLE "request_log" ADD COLUMN "stop_reason" text;--> statement-breakpoint
CREATE INDEX "request_log_stopped" ON "request_log" USING btree ("at") WHERE "request_log"."stop_reason" IS NOT NULL;