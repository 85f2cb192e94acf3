CREATE TABLE "outbox" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"kind" text NOT NULL,
	"account" bigint,
	"recipient" text NOT NULL,
	"subject" text,
	"text" text,
	"html" text,
	"unique_key" text,
	"attempts" integer DEFAULT 0 NOT NULL,
	"claimed_until" timestamp with time zone,
	"next_attempt_at" timestamp with time zone DEFAULT now() NOT NULL,
	"status" text DEFAULT 'waiting' NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone,
	"last_error" text,
	CONSTRAINT "outbox_unique_key_unique" UNIQUE("unique_key"),
	CONSTRAINT "outbox_content" CHECK (("outbox"."status" = 'waiting') = ("outbox"."text" IS NOT NULL)
        AND ("outbox"."status" = 'waiting') = ("outbox"."subject" IS NOT NULL)
        AND ("outbox"."status" = 'waiting') = ("outbox"."html" IS NOT NULL))
);
--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "outbox_waiting" ON "outbox" USING btree ("next_attempt_at") WHERE "outbox"."status" = 'waiting';--> statement-breakpoint
CREATE INDEX "outbox_recipient" ON "outbox" USING btree (lower("recipient"),"kind","created_at");--> statement-breakpoint
CREATE INDEX "outbox_account" ON "outbox" USING btree ("account");