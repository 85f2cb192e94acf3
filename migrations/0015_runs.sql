CREATE TABLE "runs" (
	"number" bigint PRIMARY KEY DEFAULT nextval('budgets_number_seq') NOT NULL,
	"account" bigint NOT NULL,
	"id" text NOT NULL,
	"key" bigint NOT NULL,
	"amount" bigint NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"ends_at" timestamp with time zone NOT NULL,
	"paused_at" timestamp with time zone,
	"forgotten_at" timestamp with time zone,
	CONSTRAINT "runs_amount" CHECK ("runs"."amount" >= 0)
);
--> statement-breakpoint
ALTER TABLE "request_log" ADD COLUMN "run" text;--> statement-breakpoint
ALTER TABLE "request_log" ADD COLUMN "step" text;--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_key_keys_number_fk" FOREIGN KEY ("key") REFERENCES "public"."keys"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "runs_id" ON "runs" USING btree ("account","id");--> statement-breakpoint
CREATE INDEX "runs_account" ON "runs" USING btree ("account","number");--> statement-breakpoint
CREATE INDEX "runs_open" ON "runs" USING btree ("ends_at") WHERE "runs"."forgotten_at" IS NULL;--> statement-breakpoint
CREATE INDEX "request_log_run" ON "request_log" USING btree ("account","run") WHERE "request_log"."run" IS NOT NULL;