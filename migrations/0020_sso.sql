ALTER TABLE "sessions" ADD COLUMN "sso_issuer" text;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "sso_group" text;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "sso_factor" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "person_credentials_account" ON "person_credentials" USING btree ("provider","provider_account");