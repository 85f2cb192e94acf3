CREATE INDEX "runs_ends" ON "runs" USING btree ("account","ends_at");--> statement-breakpoint
CREATE INDEX "runs_forgotten" ON "runs" USING btree ("ends_at") WHERE "runs"."forgotten_at" IS NOT NULL;