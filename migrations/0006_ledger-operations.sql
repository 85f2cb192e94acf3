DROP INDEX "ledger_operation";--> statement-breakpoint
CREATE UNIQUE INDEX "ledger_operation" ON "ledger_entries" USING btree ("account","operation") WHERE "ledger_entries"."operation" IS NOT NULL;