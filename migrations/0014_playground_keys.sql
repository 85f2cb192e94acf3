ALTER TABLE "keys" ADD COLUMN "expires_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "session" text;--> statement-breakpoint
CREATE INDEX "keys_expiring" ON "keys" USING btree ("expires_at") WHERE "keys"."expires_at" IS NOT NULL AND "keys"."revoked_at" IS NULL;--> statement-breakpoint
ALTER TABLE "keys" ADD CONSTRAINT "keys_session" CHECK (("keys"."session" IS NULL) = ("keys"."expires_at" IS NULL));