CREATE TABLE "receipt_keys" (
	"x" text PRIMARY KEY NOT NULL,
	"since" timestamp with time zone DEFAULT now() NOT NULL,
	"retired_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "receipts" (
	"request" uuid NOT NULL,
	"number" smallint NOT NULL,
	"account" bigint NOT NULL,
	"jws" text NOT NULL,
	"issued_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "receipts_request_number_pk" PRIMARY KEY("request","number")
);
--> statement-breakpoint
ALTER TABLE "receipts" ADD CONSTRAINT "receipts_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "receipts_account" ON "receipts" USING btree ("account");