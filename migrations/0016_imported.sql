CREATE TABLE "imported" (
	"source" text NOT NULL,
	"origin" text NOT NULL,
	"account" bigint NOT NULL,
	"key" text,
	"complete" boolean DEFAULT false NOT NULL,
	"at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "imported_source_origin_pk" PRIMARY KEY("source","origin")
);
--> statement-breakpoint
ALTER TABLE "imported" ADD CONSTRAINT "imported_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;