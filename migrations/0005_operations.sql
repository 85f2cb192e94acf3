-- Credits become operations: signed, of several kinds, in the same order.
ALTER TABLE "credits" RENAME TO "operations";--> statement-breakpoint
ALTER TABLE "operations" RENAME COLUMN "purse" TO "balance";--> statement-breakpoint
ALTER TABLE "operations" RENAME CONSTRAINT "credits_account_number_pk" TO "operations_account_number_pk";--> statement-breakpoint
ALTER TABLE "operations" RENAME CONSTRAINT "credits_account_accounts_number_fk" TO "operations_account_accounts_number_fk";--> statement-breakpoint
ALTER TABLE "operations" RENAME CONSTRAINT "credits_payment_payments_number_fk" TO "operations_payment_payments_number_fk";--> statement-breakpoint
ALTER TABLE "operations" DROP CONSTRAINT "credits_payment_unique";--> statement-breakpoint
ALTER TABLE "operations" DROP CONSTRAINT "credits_positive";--> statement-breakpoint
ALTER INDEX "credits_unbooked" RENAME TO "operations_unbooked";--> statement-breakpoint
ALTER INDEX "credits_running" RENAME TO "operations_running";--> statement-breakpoint
ALTER INDEX "credits_allowance" RENAME TO "operations_allowance";--> statement-breakpoint
ALTER TABLE "operations" ADD COLUMN "kind" text DEFAULT 'credit' NOT NULL;--> statement-breakpoint
ALTER TABLE "operations" ALTER COLUMN "kind" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "operations" ADD COLUMN "reason" text;--> statement-breakpoint
ALTER TABLE "operations" ADD COLUMN "actor" text DEFAULT 'system' NOT NULL;--> statement-breakpoint
ALTER TABLE "operations" ADD COLUMN "reference" text;--> statement-breakpoint
UPDATE "operations" SET "actor" = 'operator' WHERE "payment" IS NOT NULL;--> statement-breakpoint
ALTER TABLE "operations" ADD CONSTRAINT "operations_sign" CHECK (CASE WHEN "operations"."kind" = 'reversal' THEN "operations"."amount" < 0
        WHEN "operations"."kind" = 'adjustment' THEN "operations"."amount" <> 0
        ELSE "operations"."amount" > 0 END);--> statement-breakpoint
ALTER TABLE "operations" ADD CONSTRAINT "operations_free" CHECK ("operations"."balance" = 'paid' OR "operations"."kind" = 'credit');--> statement-breakpoint
CREATE INDEX "operations_payment" ON "operations" USING btree ("payment");--> statement-breakpoint
CREATE UNIQUE INDEX "operations_reference" ON "operations" USING btree ("account","reference");--> statement-breakpoint
ALTER TABLE "ledger_entries" RENAME COLUMN "credit" TO "operation";--> statement-breakpoint
ALTER INDEX "ledger_credit" RENAME TO "ledger_operation";--> statement-breakpoint
ALTER TABLE "ledger_entries" RENAME CONSTRAINT "ledger_entries_account_credit_credits_account_number_fk" TO "ledger_entries_account_operation_operations_account_number_fk";--> statement-breakpoint
ALTER TABLE "ledger_entries" ADD COLUMN "owed_after" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "ledger_entries" DROP CONSTRAINT "ledger_never_negative";--> statement-breakpoint
ALTER TABLE "ledger_entries" ADD CONSTRAINT "ledger_never_negative" CHECK ("ledger_entries"."paid_after" >= 0 AND "ledger_entries"."free_after" >= 0 AND "ledger_entries"."owed_after" >= 0);--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "provider" text DEFAULT 'manual' NOT NULL;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "provider_ref" text;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "status" text DEFAULT 'succeeded' NOT NULL;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "currency" text DEFAULT 'usd' NOT NULL;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "fee" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "bonus" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "disputed" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "dispute" text;--> statement-breakpoint
ALTER TABLE "payments" ADD CONSTRAINT "payments_amounts" CHECK ("payments"."amount" > 0 AND "payments"."fee" >= 0 AND "payments"."bonus" >= 0
        AND "payments"."refunded" BETWEEN 0 AND "payments"."amount"
        AND "payments"."disputed" BETWEEN 0 AND "payments"."amount");--> statement-breakpoint
CREATE UNIQUE INDEX "payments_provider_ref" ON "payments" USING btree ("provider","provider_ref");--> statement-breakpoint
-- A value that the log did not know stopped a bucket's journal: now any text is a value.
ALTER TABLE "request_log" ALTER COLUMN "endpoint" SET DATA TYPE text;--> statement-breakpoint
ALTER TABLE "request_log" ALTER COLUMN "service" SET DATA TYPE text;--> statement-breakpoint
ALTER TABLE "request_log" ADD COLUMN "lane" text;--> statement-breakpoint
ALTER TABLE "request_log" ADD COLUMN "held" bigint;--> statement-breakpoint
ALTER TABLE "request_log" ADD COLUMN "free_cost" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "request_log" ADD COLUMN "price_version" text;--> statement-breakpoint
ALTER TABLE "request_log" ADD COLUMN "refused_by" text;--> statement-breakpoint
DROP TYPE "public"."logged_endpoint";--> statement-breakpoint
DROP TYPE "public"."logged_service";--> statement-breakpoint
CREATE TABLE "rejected_entries" (
	"bucket" smallint NOT NULL,
	"epoch" bigint NOT NULL,
	"entry" bigint NOT NULL,
	"account" text,
	"seq" bigint,
	"reason" text NOT NULL,
	"content" "bytea" NOT NULL,
	"ledger_written" boolean DEFAULT false NOT NULL,
	"rejected_at" timestamp with time zone DEFAULT now() NOT NULL,
	"resolved_at" timestamp with time zone,
	CONSTRAINT "rejected_entries_bucket_epoch_entry_pk" PRIMARY KEY("bucket","epoch","entry")
);
--> statement-breakpoint
CREATE INDEX "rejected_entries_open" ON "rejected_entries" USING btree ("account") WHERE "rejected_entries"."resolved_at" IS NULL;--> statement-breakpoint
-- The buckets whose journal is of the layout before, and where it stood. Entries that are not here
-- yet are moved before the bucket gets its next epoch (actors/first-layout.ts); then its row goes.
CREATE TABLE "first_layout_cursors" AS
	SELECT "bucket", "epoch", "entry", "stream_id" FROM "journal_cursors" WHERE "epoch" > 0;--> statement-breakpoint
ALTER TABLE "first_layout_cursors" ADD CONSTRAINT "first_layout_cursors_pkey" PRIMARY KEY ("bucket");--> statement-breakpoint
ALTER TABLE "journal_cursors" ADD COLUMN "kept_entry" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "journal_cursors" ADD COLUMN "kept_at" timestamp with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
ALTER TABLE "journal_cursors" DROP COLUMN "stream_id";
