ALTER TABLE "request_log" ADD COLUMN "cache_write_tokens" integer;--> statement-breakpoint
ALTER TABLE "request_log" ADD COLUMN "tier" text;--> statement-breakpoint
ALTER TABLE "request_log" ADD COLUMN "usage_source" text;--> statement-breakpoint
ALTER TABLE "request_log" ADD COLUMN "usage_parts" text;--> statement-breakpoint
ALTER TABLE "request_log" ADD COLUMN "upstream_source" text;