CREATE TABLE "webhook_deliveries" (
	"number" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "webhook_deliveries_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"event" uuid NOT NULL,
	"receiver" bigint NOT NULL,
	"status" text DEFAULT 'waiting' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"claim" integer DEFAULT 0 NOT NULL,
	"claimed_until" timestamp with time zone,
	"next_attempt_at" timestamp with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp with time zone DEFAULT now() NOT NULL,
	"ended_at" timestamp with time zone,
	"http_status" smallint,
	"duration_ms" integer,
	"attempted_at" timestamp with time zone,
	"error" text,
	CONSTRAINT "webhook_deliveries_once" UNIQUE("event","receiver")
);
--> statement-breakpoint
CREATE TABLE "webhook_events" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"account" bigint NOT NULL,
	"type" text NOT NULL,
	"unique_key" text,
	"data" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "webhook_events_key" UNIQUE("account","unique_key")
);
--> statement-breakpoint
CREATE TABLE "webhook_receivers" (
	"number" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "webhook_receivers_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"id" text NOT NULL,
	"account" bigint NOT NULL,
	"url" text NOT NULL,
	"description" text NOT NULL,
	"events" text[] NOT NULL,
	"secret" "bytea" NOT NULL,
	"old_secret" "bytea",
	"old_secret_until" timestamp with time zone,
	"disabled" text,
	"disabled_at" timestamp with time zone,
	"failing_since" timestamp with time zone,
	"last_delivered_at" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "webhook_receivers_id_unique" UNIQUE("id"),
	CONSTRAINT "webhook_receivers_disabled" CHECK (("webhook_receivers"."disabled" IS NULL) = ("webhook_receivers"."disabled_at" IS NULL))
);
--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_event_webhook_events_id_fk" FOREIGN KEY ("event") REFERENCES "public"."webhook_events"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_receiver_webhook_receivers_number_fk" FOREIGN KEY ("receiver") REFERENCES "public"."webhook_receivers"("number") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_events" ADD CONSTRAINT "webhook_events_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_receivers" ADD CONSTRAINT "webhook_receivers_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "webhook_deliveries_due" ON "webhook_deliveries" USING btree ("receiver","next_attempt_at") WHERE "webhook_deliveries"."status" = 'waiting';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_receiver" ON "webhook_deliveries" USING btree ("receiver","number");--> statement-breakpoint
CREATE INDEX "webhook_events_account" ON "webhook_events" USING btree ("account","created_at");--> statement-breakpoint
CREATE INDEX "webhook_receivers_account" ON "webhook_receivers" USING btree ("account");