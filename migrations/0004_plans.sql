ALTER TYPE "public"."logged_endpoint" ADD VALUE '/api/v1/chat/completions';--> statement-breakpoint
ALTER TYPE "public"."logged_endpoint" ADD VALUE '/api/v1/models';--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "plan" text;--> statement-breakpoint
-- Another version, for the access document says the plan: Redis is given it anew.
UPDATE "accounts" SET "plan" = 'free', "version" = "version" + 1, "changed_at" = now()
WHERE "surface" = 'application';--> statement-breakpoint
ALTER TABLE "credits" ADD COLUMN "allowance_month" integer;--> statement-breakpoint
CREATE UNIQUE INDEX "credits_allowance" ON "credits" USING btree ("account","allowance_month");--> statement-breakpoint
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_plan" CHECK (("accounts"."plan" IS NOT NULL) = ("accounts"."surface" = 'application'));