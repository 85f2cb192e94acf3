CREATE TABLE "margin_days" (
	"bucket" smallint NOT NULL,
	"day" date NOT NULL,
	"service" text NOT NULL,
	"model" text NOT NULL,
	"lane" text NOT NULL,
	"calls" integer NOT NULL,
	"cost" bigint NOT NULL,
	"free_cost" bigint NOT NULL,
	"known_calls" integer NOT NULL,
	"known_cost" bigint NOT NULL,
	"upstream_cost" bigint NOT NULL,
	CONSTRAINT "margin_days_bucket_day_service_model_lane_pk" PRIMARY KEY("bucket","day","service","model","lane")
);
--> statement-breakpoint
ALTER TABLE "request_log" ADD COLUMN "upstream_cost" bigint;--> statement-breakpoint
CREATE INDEX "margin_days_day" ON "margin_days" USING btree ("day");