ALTER TYPE "public"."logged_endpoint" ADD VALUE '/v1/mail/send';--> statement-breakpoint
ALTER TYPE "public"."logged_endpoint" ADD VALUE '/v1/mail/messages';--> statement-breakpoint
CREATE TABLE "mail_contents" (
	"message" uuid PRIMARY KEY NOT NULL,
	"box" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "mail_messages" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account" bigint NOT NULL,
	"request" uuid NOT NULL,
	"hold" text NOT NULL,
	"status" text DEFAULT 'queued' NOT NULL,
	"recipients" integer NOT NULL,
	"accepted" integer DEFAULT 0 NOT NULL,
	"domains" text[] NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"told_queued" boolean DEFAULT false NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"claimed_until" timestamp with time zone,
	"next_attempt_at" timestamp with time zone DEFAULT now() NOT NULL,
	"doubts" smallint DEFAULT 0 NOT NULL,
	"failure" text,
	"reason" text,
	"ended_at" timestamp with time zone,
	"cost" bigint,
	"settled_at" timestamp with time zone,
	CONSTRAINT "mail_messages_doubts" CHECK ("mail_messages"."doubts" BETWEEN 0 AND 2)
);
--> statement-breakpoint
CREATE TABLE "mail_repeats" (
	"account" bigint NOT NULL,
	"digest" "bytea" NOT NULL,
	"fingerprint" "bytea" NOT NULL,
	"claim" uuid NOT NULL,
	"claimed_until" timestamp with time zone NOT NULL,
	"message" uuid,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "mail_repeats_account_digest_pk" PRIMARY KEY("account","digest")
);
--> statement-breakpoint
-- What is sealed cannot be packed.
ALTER TABLE "mail_contents" ALTER COLUMN "box" SET STORAGE EXTERNAL;--> statement-breakpoint
ALTER TABLE "mail_messages" ADD CONSTRAINT "mail_messages_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "mail_messages_open" ON "mail_messages" USING btree ("created_at") WHERE "mail_messages"."settled_at" IS NULL;--> statement-breakpoint
CREATE INDEX "mail_repeats_created" ON "mail_repeats" USING brin ("created_at");