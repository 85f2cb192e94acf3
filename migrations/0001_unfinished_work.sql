ALTER TABLE "credits" ADD COLUMN "booked" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "credits" ADD COLUMN "ended" boolean DEFAULT false NOT NULL;--> statement-breakpoint
UPDATE "credits" SET "booked" = true FROM "ledger_entries" WHERE "ledger_entries"."account" = "credits"."account" AND "ledger_entries"."credit" = "credits"."number";--> statement-breakpoint
CREATE INDEX "accounts_unapplied" ON "accounts" USING btree ("number") WHERE "accounts"."applied_version" < "accounts"."version";--> statement-breakpoint
CREATE INDEX "credits_unbooked" ON "credits" USING btree ("created_at") WHERE NOT "credits"."booked";--> statement-breakpoint
CREATE INDEX "credits_running" ON "credits" USING btree ("expires_at") WHERE "credits"."purse" = 'free' AND NOT "credits"."ended";