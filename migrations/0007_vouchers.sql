CREATE TABLE "voucher_redemptions" (
	"voucher" bigint NOT NULL,
	"account" bigint NOT NULL,
	"operation" integer NOT NULL,
	"redeemed_at" timestamp with time zone NOT NULL,
	CONSTRAINT "voucher_redemptions_voucher_account_pk" PRIMARY KEY("voucher","account")
);
--> statement-breakpoint
CREATE TABLE "vouchers" (
	"number" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "vouchers_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"digest" text NOT NULL,
	"batch" text NOT NULL,
	"amount" bigint NOT NULL,
	"uses_max" integer NOT NULL,
	"used" integer DEFAULT 0 NOT NULL,
	"tiers" text[],
	"ends_at" timestamp with time zone,
	"ended_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "vouchers_digest_unique" UNIQUE("digest"),
	CONSTRAINT "vouchers_uses" CHECK ("vouchers"."used" BETWEEN 0 AND "vouchers"."uses_max"),
	CONSTRAINT "vouchers_amount" CHECK ("vouchers"."amount" > 0)
);
--> statement-breakpoint
ALTER TABLE "voucher_redemptions" ADD CONSTRAINT "voucher_redemptions_voucher_vouchers_number_fk" FOREIGN KEY ("voucher") REFERENCES "public"."vouchers"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "voucher_redemptions" ADD CONSTRAINT "voucher_redemptions_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "voucher_redemptions" ADD CONSTRAINT "voucher_redemptions_account_operation_operations_account_number_fk" FOREIGN KEY ("account","operation") REFERENCES "public"."operations"("account","number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "voucher_redemptions_account" ON "voucher_redemptions" USING btree ("account");--> statement-breakpoint
CREATE INDEX "vouchers_batch" ON "vouchers" USING btree ("batch");