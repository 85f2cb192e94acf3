CREATE TABLE "usage_rollups" (
	"account" bigint NOT NULL,
	"minutes" smallint NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"key" bigint NOT NULL,
	"service" text NOT NULL,
	"model" text NOT NULL,
	"status" text NOT NULL,
	"calls" integer NOT NULL,
	"prompt_tokens" bigint NOT NULL,
	"cached_tokens" bigint NOT NULL,
	"completion_tokens" bigint NOT NULL,
	"cost" bigint NOT NULL,
	"free_cost" bigint NOT NULL,
	"latencies" "bytea",
	CONSTRAINT "usage_rollups_account_minutes_at_key_service_model_status_pk" PRIMARY KEY("account","minutes","at","key","service","model","status")
);
--> statement-breakpoint
-- Rows of the present quarter of an hour change with every flush: room for them to stay in place.
ALTER TABLE "usage_rollups" SET (fillfactor = 80);
