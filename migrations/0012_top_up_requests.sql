ALTER TABLE "top_ups" ADD COLUMN "request" text;--> statement-breakpoint
CREATE UNIQUE INDEX "top_ups_request" ON "top_ups" USING btree ("account","request");