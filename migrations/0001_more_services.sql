ALTER TYPE "public"."logged_endpoint" ADD VALUE '/v1/search';--> statement-breakpoint
ALTER TYPE "public"."logged_endpoint" ADD VALUE '/v1/search/batch';--> statement-breakpoint
ALTER TYPE "public"."logged_endpoint" ADD VALUE '/v1/maps';