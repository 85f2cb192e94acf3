ALTER TABLE "request_log" ADD COLUMN "marker" text;--> statement-breakpoint
CREATE INDEX "request_log_marked" ON "request_log" USING btree ("account","at") WHERE "request_log"."marker" IS NOT NULL;