CREATE TABLE "waiting_settlements" (
	"request" uuid PRIMARY KEY NOT NULL,
	"account" bigint NOT NULL,
	"owner" text NOT NULL,
	"hold" text NOT NULL,
	"cost" bigint NOT NULL,
	"outcome" text NOT NULL,
	"unused" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "waiting_settlements" ADD CONSTRAINT "waiting_settlements_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;