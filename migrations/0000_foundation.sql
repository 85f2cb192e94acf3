CREATE TYPE "public"."logged_endpoint" AS ENUM('/v1/chat/completions', '/v1/me');--> statement-breakpoint
CREATE TYPE "public"."logged_service" AS ENUM('account', 'models', 'search', 'maps', 'mail');--> statement-breakpoint
CREATE TABLE "accounts" (
	"number" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "accounts_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"id" text NOT NULL,
	"surface" text NOT NULL,
	"email" text,
	"bucket" smallint NOT NULL,
	"state" text DEFAULT 'active' NOT NULL,
	"state_reason" text,
	"contract" text,
	"own_cap" bigint,
	"version" integer DEFAULT 1 NOT NULL,
	"applied_version" integer DEFAULT 0 NOT NULL,
	"changed_at" timestamp with time zone DEFAULT now() NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "accounts_id_unique" UNIQUE("id")
);
--> statement-breakpoint
CREATE TABLE "credits" (
	"account" bigint NOT NULL,
	"number" integer NOT NULL,
	"purse" text NOT NULL,
	"amount" bigint NOT NULL,
	"expires_at" timestamp with time zone,
	"payment" bigint,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "credits_account_number_pk" PRIMARY KEY("account","number"),
	CONSTRAINT "credits_payment_unique" UNIQUE("payment"),
	CONSTRAINT "credits_positive" CHECK ("credits"."amount" > 0)
);
--> statement-breakpoint
CREATE TABLE "journal_cursors" (
	"bucket" smallint PRIMARY KEY NOT NULL,
	"epoch" bigint DEFAULT 0 NOT NULL,
	"entry" bigint DEFAULT 0 NOT NULL,
	"stream_id" text DEFAULT '0-0' NOT NULL
);
--> statement-breakpoint
CREATE TABLE "keys" (
	"number" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "keys_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"id" text NOT NULL,
	"account" bigint NOT NULL,
	"digest" text NOT NULL,
	"name" text NOT NULL,
	"scopes" text[] NOT NULL,
	"ip_allowlist" text[] NOT NULL,
	"monthly_limit" bigint,
	"last_four" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"revoked_at" timestamp with time zone,
	"last_used_at" timestamp with time zone,
	CONSTRAINT "keys_id_unique" UNIQUE("id"),
	CONSTRAINT "keys_digest_unique" UNIQUE("digest")
);
--> statement-breakpoint
CREATE TABLE "ledger_entries" (
	"account" bigint NOT NULL,
	"seq" bigint NOT NULL,
	"kind" text NOT NULL,
	"paid_delta" bigint NOT NULL,
	"free_delta" bigint NOT NULL,
	"paid_after" bigint NOT NULL,
	"free_after" bigint NOT NULL,
	"request" uuid,
	"key" bigint,
	"month" integer,
	"credit" integer,
	"at" timestamp with time zone NOT NULL,
	CONSTRAINT "ledger_entries_account_seq_pk" PRIMARY KEY("account","seq"),
	CONSTRAINT "ledger_never_negative" CHECK ("ledger_entries"."paid_after" >= 0 AND "ledger_entries"."free_after" >= 0)
);
--> statement-breakpoint
CREATE TABLE "month_spend" (
	"account" bigint NOT NULL,
	"month" integer NOT NULL,
	"key" bigint NOT NULL,
	"spent" bigint NOT NULL,
	CONSTRAINT "month_spend_account_month_key_pk" PRIMARY KEY("account","month","key")
);
--> statement-breakpoint
CREATE TABLE "pauses" (
	"target" text PRIMARY KEY NOT NULL,
	"since" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "payments" (
	"number" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "payments_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"id" text NOT NULL,
	"account" bigint NOT NULL,
	"amount" bigint NOT NULL,
	"refunded" bigint DEFAULT 0 NOT NULL,
	"paid_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "payments_id_unique" UNIQUE("id")
);
--> statement-breakpoint
CREATE TABLE "request_log" (
	"at" timestamp with time zone NOT NULL,
	"account" bigint NOT NULL,
	"key" bigint NOT NULL,
	"request" uuid NOT NULL,
	"cost" bigint NOT NULL,
	"latency_ms" integer NOT NULL,
	"first_token_ms" integer,
	"prompt_tokens" integer NOT NULL,
	"cached_tokens" integer NOT NULL,
	"completion_tokens" integer NOT NULL,
	"requests" integer NOT NULL,
	"status" smallint NOT NULL,
	"endpoint" "logged_endpoint" NOT NULL,
	"service" "logged_service" NOT NULL,
	"model" text,
	"error_code" text,
	"country" text,
	"ip_hash" "bytea"
) PARTITION BY RANGE ("at");
--> statement-breakpoint
ALTER TABLE "credits" ADD CONSTRAINT "credits_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "credits" ADD CONSTRAINT "credits_payment_payments_number_fk" FOREIGN KEY ("payment") REFERENCES "public"."payments"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "keys" ADD CONSTRAINT "keys_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ledger_entries" ADD CONSTRAINT "ledger_entries_account_credit_credits_account_number_fk" FOREIGN KEY ("account","credit") REFERENCES "public"."credits"("account","number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payments" ADD CONSTRAINT "payments_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "keys_account" ON "keys" USING btree ("account");--> statement-breakpoint
CREATE UNIQUE INDEX "ledger_request" ON "ledger_entries" USING btree ("request","kind");--> statement-breakpoint
CREATE UNIQUE INDEX "ledger_credit" ON "ledger_entries" USING btree ("account","credit");--> statement-breakpoint
CREATE INDEX "payments_account" ON "payments" USING btree ("account");--> statement-breakpoint
CREATE UNIQUE INDEX "request_log_request" ON "request_log" USING btree ("request","at");--> statement-breakpoint
CREATE INDEX "request_log_account" ON "request_log" USING btree ("account","at");--> statement-breakpoint
CREATE INDEX "request_log_at" ON "request_log" USING brin ("at");--> statement-breakpoint
CREATE FUNCTION "ensure_request_log_partition"("month_start" date) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	-- Two sessions that make the same table at once would fail, in spite of IF NOT EXISTS.
	PERFORM pg_advisory_xact_lock(720314003);
	EXECUTE format(
		'CREATE TABLE IF NOT EXISTS %I PARTITION OF request_log FOR VALUES FROM (%L) TO (%L)',
		'request_log_' || to_char(month_start, 'YYYYMM'),
		to_char(month_start, 'YYYY-MM-DD') || ' 00:00:00+00',
		to_char(month_start + interval '1 month', 'YYYY-MM-DD') || ' 00:00:00+00'
	);
END $$;
--> statement-breakpoint
CREATE FUNCTION "refuse_ledger_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'ledger_entries is append-only: a correction is a new entry';
END $$;
--> statement-breakpoint
CREATE TRIGGER "ledger_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "ledger_entries"
	FOR EACH STATEMENT EXECUTE FUNCTION "refuse_ledger_change"();
--> statement-breakpoint
CREATE FUNCTION "announce_pauses"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_notify('pauses', '');
	RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "pauses_changed" AFTER INSERT OR UPDATE OR DELETE ON "pauses"
	FOR EACH STATEMENT EXECUTE FUNCTION "announce_pauses"();
--> statement-breakpoint
INSERT INTO "journal_cursors" ("bucket") SELECT generate_series(0, 63);
