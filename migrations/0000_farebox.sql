CREATE TABLE "accounts" (
	"number" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "accounts_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"id" text NOT NULL,
	"surface" text NOT NULL,
	"email" text,
	"name" text,
	"mail_domain" text,
	"sign_up_grant" text,
	"bucket" smallint NOT NULL,
	"state" text DEFAULT 'active' NOT NULL,
	"state_reason" text,
	"contract" text,
	"plan" text,
	"own_cap" bigint,
	"version" integer DEFAULT 1 NOT NULL,
	"applied_version" integer DEFAULT 0 NOT NULL,
	"changed_at" timestamp with time zone DEFAULT now() NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "accounts_id_unique" UNIQUE("id"),
	CONSTRAINT "accounts_plan" CHECK (("accounts"."plan" IS NOT NULL) = ("accounts"."surface" = 'application'))
);
--> statement-breakpoint
CREATE TABLE "imported" (
	"source" text NOT NULL,
	"origin" text NOT NULL,
	"account" bigint NOT NULL,
	"key" text,
	"complete" boolean DEFAULT false NOT NULL,
	"at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "imported_source_origin_pk" PRIMARY KEY("source","origin")
);
--> statement-breakpoint
CREATE TABLE "keys" (
	"number" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "keys_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"id" text NOT NULL,
	"account" bigint NOT NULL,
	"digest" text NOT NULL,
	"pepper" text,
	"name" text NOT NULL,
	"scopes" text[] NOT NULL,
	"ip_allowlist" text[] NOT NULL,
	"monthly_limit" bigint,
	"last_four" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"revoked_at" timestamp with time zone,
	"last_used_at" timestamp with time zone,
	"expires_at" timestamp with time zone,
	"session" text,
	CONSTRAINT "keys_id_unique" UNIQUE("id"),
	CONSTRAINT "keys_digest_unique" UNIQUE("digest"),
	CONSTRAINT "keys_session" CHECK (("keys"."session" IS NULL) = ("keys"."expires_at" IS NULL))
);
--> statement-breakpoint
CREATE TABLE "operations" (
	"account" bigint NOT NULL,
	"number" integer NOT NULL,
	"kind" text NOT NULL,
	"balance" text NOT NULL,
	"amount" bigint NOT NULL,
	"payment" bigint,
	"reason" text,
	"actor" text DEFAULT 'system' NOT NULL,
	"reference" text,
	"expires_at" timestamp with time zone,
	"allowance_month" integer,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"booked" boolean DEFAULT false NOT NULL,
	"ended" boolean DEFAULT false NOT NULL,
	"set_aside_at" timestamp with time zone,
	"set_aside_reason" text,
	"replaced_by" integer,
	CONSTRAINT "operations_account_number_pk" PRIMARY KEY("account","number"),
	CONSTRAINT "operations_sign" CHECK (CASE WHEN "operations"."kind" = 'reversal' THEN "operations"."amount" < 0
        WHEN "operations"."kind" = 'adjustment' THEN "operations"."amount" <> 0
        ELSE "operations"."amount" > 0 END),
	CONSTRAINT "operations_free" CHECK ("operations"."balance" = 'paid' OR "operations"."kind" = 'credit')
);
--> statement-breakpoint
CREATE TABLE "payments" (
	"number" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "payments_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"id" text NOT NULL,
	"account" bigint NOT NULL,
	"provider" text DEFAULT 'manual' NOT NULL,
	"provider_ref" text,
	"status" text DEFAULT 'succeeded' NOT NULL,
	"currency" text DEFAULT 'usd' NOT NULL,
	"purpose" text DEFAULT 'balance' NOT NULL,
	"amount" bigint NOT NULL,
	"fee" bigint DEFAULT 0 NOT NULL,
	"tax" bigint DEFAULT 0 NOT NULL,
	"bonus" bigint DEFAULT 0 NOT NULL,
	"refunded" bigint DEFAULT 0 NOT NULL,
	"disputed" bigint DEFAULT 0 NOT NULL,
	"dispute" text,
	"receipt_url" text,
	"paid_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "payments_id_unique" UNIQUE("id"),
	CONSTRAINT "payments_amounts" CHECK ("payments"."amount" > 0 AND "payments"."fee" >= 0 AND "payments"."tax" >= 0 AND "payments"."bonus" >= 0
        AND "payments"."refunded" BETWEEN 0 AND "payments"."amount"
        AND "payments"."disputed" BETWEEN 0 AND "payments"."amount")
);
--> statement-breakpoint
CREATE TABLE "secrets" (
	"name" text PRIMARY KEY NOT NULL,
	"fingerprint" text NOT NULL,
	"since" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ip_hash_secrets" (
	"month" text PRIMARY KEY NOT NULL,
	"secret" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "journal_cursors" (
	"bucket" smallint PRIMARY KEY NOT NULL,
	"epoch" bigint DEFAULT 0 NOT NULL,
	"entry" bigint DEFAULT 0 NOT NULL,
	"kept_entry" bigint DEFAULT 0 NOT NULL,
	"kept_at" timestamp with time zone DEFAULT now() NOT NULL
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
	"owed_after" bigint DEFAULT 0 NOT NULL,
	"request" uuid,
	"key" bigint,
	"month" integer,
	"operation" integer,
	"at" timestamp with time zone NOT NULL,
	CONSTRAINT "ledger_entries_account_seq_pk" PRIMARY KEY("account","seq"),
	CONSTRAINT "ledger_never_negative" CHECK ("ledger_entries"."paid_after" >= 0 AND "ledger_entries"."free_after" >= 0 AND "ledger_entries"."owed_after" >= 0)
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
	"set_aside_at" timestamp with time zone,
	"set_aside_reason" text,
	CONSTRAINT "rejected_entries_bucket_epoch_entry_pk" PRIMARY KEY("bucket","epoch","entry")
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
	"endpoint" text NOT NULL,
	"service" text NOT NULL,
	"model" text,
	"error_code" text,
	"lane" text,
	"held" bigint,
	"free_cost" bigint DEFAULT 0 NOT NULL,
	"price_version" text,
	"refused_by" text,
	"country" text,
	"ip_hash" "bytea",
	"upstream_cost" bigint
) PARTITION BY RANGE ("at");
--> statement-breakpoint
CREATE TABLE "upkeep_cursors" (
	"job" text PRIMARY KEY NOT NULL,
	"done_until" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "mail_contents" (
	"message" uuid PRIMARY KEY NOT NULL,
	"box" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "mail_messages" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account" bigint NOT NULL,
	"request" uuid NOT NULL,
	"hold" text NOT NULL,
	"status" text DEFAULT 'queued' NOT NULL,
	"recipients" integer NOT NULL,
	"accepted" integer DEFAULT 0 NOT NULL,
	"domains" text[] NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"told_queued" boolean DEFAULT false NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"claimed_until" timestamp with time zone,
	"next_attempt_at" timestamp with time zone DEFAULT now() NOT NULL,
	"doubts" smallint DEFAULT 0 NOT NULL,
	"failure" text,
	"reason" text,
	"ended_at" timestamp with time zone,
	"cost" bigint,
	"settled_at" timestamp with time zone,
	CONSTRAINT "mail_messages_doubts" CHECK ("mail_messages"."doubts" BETWEEN 0 AND 2)
);
--> statement-breakpoint
CREATE TABLE "mail_repeats" (
	"account" bigint NOT NULL,
	"digest" "bytea" NOT NULL,
	"fingerprint" "bytea" NOT NULL,
	"claim" uuid NOT NULL,
	"claimed_until" timestamp with time zone NOT NULL,
	"message" uuid,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "mail_repeats_account_digest_pk" PRIMARY KEY("account","digest")
);
--> statement-breakpoint
CREATE TABLE "auto_top_ups" (
	"account" bigint PRIMARY KEY NOT NULL,
	"state" text NOT NULL,
	"amount" bigint NOT NULL,
	"threshold" bigint NOT NULL,
	"monthly_cap" bigint NOT NULL,
	"card" bigint NOT NULL,
	"consent_version" text NOT NULL,
	"consent_at" timestamp with time zone NOT NULL,
	"reason" text,
	"changed_at" timestamp with time zone NOT NULL,
	CONSTRAINT "auto_top_ups_amounts" CHECK ("auto_top_ups"."amount" > 0 AND "auto_top_ups"."threshold" BETWEEN 0 AND "auto_top_ups"."amount"
        AND "auto_top_ups"."monthly_cap" >= "auto_top_ups"."amount"),
	CONSTRAINT "auto_top_ups_reason" CHECK (("auto_top_ups"."reason" IS NOT NULL) = ("auto_top_ups"."state" = 'paused'))
);
--> statement-breakpoint
CREATE TABLE "bonus_claims" (
	"account" bigint PRIMARY KEY NOT NULL,
	"email" text,
	"provider" text NOT NULL,
	"fingerprint" text,
	"top_up" bigint NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "bonus_claims_email_unique" UNIQUE("email")
);
--> statement-breakpoint
CREATE TABLE "plan_charges" (
	"top_up" bigint PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"plan" text NOT NULL,
	"price" bigint NOT NULL,
	"consent_version" text NOT NULL,
	"consent_at" timestamp with time zone NOT NULL,
	"paid_from" timestamp with time zone NOT NULL,
	"paid_until" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "plan_subscriptions" (
	"account" bigint PRIMARY KEY NOT NULL,
	"state" text NOT NULL,
	"end_reason" text,
	"plan" text NOT NULL,
	"price" bigint NOT NULL,
	"next_plan" text,
	"next_price" bigint,
	"card" bigint NOT NULL,
	"consent_version" text NOT NULL,
	"consent_at" timestamp with time zone NOT NULL,
	"anchor" timestamp with time zone NOT NULL,
	"paid_from" timestamp with time zone NOT NULL,
	"paid_until" timestamp with time zone NOT NULL,
	"changed_at" timestamp with time zone NOT NULL,
	CONSTRAINT "plan_subscriptions_period" CHECK ("plan_subscriptions"."paid_from" < "plan_subscriptions"."paid_until"),
	CONSTRAINT "plan_subscriptions_ended" CHECK (("plan_subscriptions"."end_reason" IS NOT NULL) = ("plan_subscriptions"."state" = 'ended')),
	CONSTRAINT "plan_subscriptions_next" CHECK (("plan_subscriptions"."next_price" IS NOT NULL) = coalesce("plan_subscriptions"."next_plan" <> 'free', false))
);
--> statement-breakpoint
CREATE TABLE "provider_cursors" (
	"provider" text PRIMARY KEY NOT NULL,
	"listed_until" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "provider_customers" (
	"account" bigint NOT NULL,
	"provider" text NOT NULL,
	"customer" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "provider_customers_account_provider_pk" PRIMARY KEY("account","provider")
);
--> statement-breakpoint
CREATE TABLE "provider_events" (
	"provider" text NOT NULL,
	"id" text NOT NULL,
	"type" text NOT NULL,
	"object" text NOT NULL,
	"object_id" text NOT NULL,
	"status" text DEFAULT 'received' NOT NULL,
	"result" text,
	"attempts" integer DEFAULT 0 NOT NULL,
	"failure" text,
	"occurred_at" timestamp with time zone NOT NULL,
	"received_at" timestamp with time zone DEFAULT now() NOT NULL,
	"processed_at" timestamp with time zone,
	CONSTRAINT "provider_events_provider_id_pk" PRIMARY KEY("provider","id")
);
--> statement-breakpoint
CREATE TABLE "refund_attempts" (
	"top_up" bigint NOT NULL,
	"reference" text NOT NULL,
	"amount" bigint,
	"attempt" integer NOT NULL,
	"broken_off_at" timestamp with time zone,
	"refund" text,
	CONSTRAINT "refund_attempts_top_up_reference_pk" PRIMARY KEY("top_up","reference")
);
--> statement-breakpoint
CREATE TABLE "saved_cards" (
	"number" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "saved_cards_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"id" text NOT NULL,
	"account" bigint NOT NULL,
	"provider" text NOT NULL,
	"ref" text NOT NULL,
	"brand" text NOT NULL,
	"last_four" text NOT NULL,
	"expiry_month" smallint NOT NULL,
	"expiry_year" smallint NOT NULL,
	"consent_version" text NOT NULL,
	"consent_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"removed_at" timestamp with time zone,
	CONSTRAINT "saved_cards_id_unique" UNIQUE("id")
);
--> statement-breakpoint
CREATE TABLE "top_ups" (
	"number" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "top_ups_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"id" text NOT NULL,
	"account" bigint NOT NULL,
	"provider" text NOT NULL,
	"kind" text NOT NULL,
	"amount" bigint NOT NULL,
	"fee" bigint DEFAULT 0 NOT NULL,
	"bonus" bigint DEFAULT 0 NOT NULL,
	"status" text DEFAULT 'open' NOT NULL,
	"checkout" text,
	"intent" text,
	"url" text,
	"card" bigint,
	"consent_version" text,
	"attempts" integer DEFAULT 0 NOT NULL,
	"failure" text,
	"next_attempt_at" timestamp with time zone,
	"reads" integer DEFAULT 0 NOT NULL,
	"applied_read" integer DEFAULT 0 NOT NULL,
	"payment" bigint,
	"concern" text,
	"request" text,
	"created_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone,
	"ended_at" timestamp with time zone,
	CONSTRAINT "top_ups_id_unique" UNIQUE("id"),
	CONSTRAINT "top_ups_amounts" CHECK ("top_ups"."amount" > 0 AND "top_ups"."fee" >= 0 AND "top_ups"."bonus" >= 0),
	CONSTRAINT "top_ups_paid" CHECK (("top_ups"."payment" IS NOT NULL) = ("top_ups"."status" = 'succeeded'))
);
--> statement-breakpoint
CREATE TABLE "activity" (
	"number" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "activity_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"account" bigint NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"actor" text NOT NULL,
	"person" text,
	"action" text NOT NULL,
	"about" text NOT NULL,
	"country" text,
	"ip_hash" text
);
--> statement-breakpoint
CREATE TABLE "attempts" (
	"key" text PRIMARY KEY NOT NULL,
	"count" integer NOT NULL,
	"ends_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "invitations" (
	"id" text PRIMARY KEY NOT NULL,
	"account" bigint NOT NULL,
	"email" text NOT NULL,
	"role" text NOT NULL,
	"invited_by" text NOT NULL,
	"token_hash" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "invitations_token_hash_unique" UNIQUE("token_hash")
);
--> statement-breakpoint
CREATE TABLE "memberships" (
	"account" bigint NOT NULL,
	"person" text NOT NULL,
	"role" text NOT NULL,
	"joined_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "memberships_account_person_pk" PRIMARY KEY("account","person")
);
--> statement-breakpoint
CREATE TABLE "passkeys" (
	"id" text PRIMARY KEY NOT NULL,
	"person" text NOT NULL,
	"name" text NOT NULL,
	"credential" text NOT NULL,
	"public_key" text NOT NULL,
	"counter" bigint NOT NULL,
	"transports" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"used_at" timestamp with time zone,
	CONSTRAINT "passkeys_credential_unique" UNIQUE("credential")
);
--> statement-breakpoint
CREATE TABLE "people" (
	"id" text PRIMARY KEY NOT NULL,
	"email" text NOT NULL,
	"email_verified" boolean DEFAULT false NOT NULL,
	"name" text NOT NULL,
	"image" text,
	"two_factor_enabled" boolean DEFAULT false NOT NULL,
	"is_operator" boolean DEFAULT false NOT NULL,
	"opened_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "people_email_unique" UNIQUE("email")
);
--> statement-breakpoint
CREATE TABLE "person_credentials" (
	"id" text PRIMARY KEY NOT NULL,
	"person" text NOT NULL,
	"provider" text NOT NULL,
	"provider_account" text NOT NULL,
	"password" text,
	"access_token" text,
	"refresh_token" text,
	"id_token" text,
	"access_token_expires_at" timestamp with time zone,
	"refresh_token_expires_at" timestamp with time zone,
	"scope" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" text PRIMARY KEY NOT NULL,
	"token" text NOT NULL,
	"person" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"proved_at" timestamp with time zone DEFAULT now() NOT NULL,
	"by_passkey" boolean DEFAULT false NOT NULL,
	"strong" boolean DEFAULT false NOT NULL,
	"sso_issuer" text,
	"sso_group" text,
	"sso_factor" boolean DEFAULT false NOT NULL,
	"user_agent" text,
	"country" text,
	"ip_address" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "sessions_token_unique" UNIQUE("token"),
	CONSTRAINT "sessions_ip_address" CHECK ("sessions"."ip_address" IS NULL OR "sessions"."ip_address" = '')
);
--> statement-breakpoint
CREATE TABLE "sign_up_grants" (
	"kind" text NOT NULL,
	"hash" text NOT NULL,
	"account" bigint NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "sign_up_grants_kind_hash_pk" PRIMARY KEY("kind","hash")
);
--> statement-breakpoint
CREATE TABLE "two_factors" (
	"id" text PRIMARY KEY NOT NULL,
	"person" text NOT NULL,
	"secret" text NOT NULL,
	"backup_codes" text NOT NULL,
	"verified" boolean DEFAULT true NOT NULL,
	"failed_verification_count" integer DEFAULT 0 NOT NULL,
	"locked_until" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "verifications" (
	"id" text PRIMARY KEY NOT NULL,
	"identifier" text NOT NULL,
	"value" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "outbox" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"kind" text NOT NULL,
	"account" bigint,
	"recipient" text NOT NULL,
	"subject" text,
	"text" text,
	"html" text,
	"unique_key" text,
	"attempts" integer DEFAULT 0 NOT NULL,
	"claimed_until" timestamp with time zone,
	"next_attempt_at" timestamp with time zone DEFAULT now() NOT NULL,
	"status" text DEFAULT 'waiting' NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"resent_at" timestamp with time zone,
	"ended_at" timestamp with time zone,
	"last_error" text,
	CONSTRAINT "outbox_unique_key_unique" UNIQUE("unique_key"),
	CONSTRAINT "outbox_content" CHECK (("outbox"."text" IS NULL) = ("outbox"."subject" IS NULL)
        AND ("outbox"."text" IS NULL) = ("outbox"."html" IS NULL)
        AND ("outbox"."status" <> 'waiting' OR "outbox"."text" IS NOT NULL)
        AND ("outbox"."status" <> 'sent' OR "outbox"."text" IS NULL))
);
--> statement-breakpoint
CREATE TABLE "margin_days" (
	"bucket" smallint NOT NULL,
	"day" date NOT NULL,
	"service" text NOT NULL,
	"model" text NOT NULL,
	"lane" text NOT NULL,
	"calls" integer NOT NULL,
	"cost" bigint NOT NULL,
	"free_cost" bigint NOT NULL,
	"known_calls" integer NOT NULL,
	"known_cost" bigint NOT NULL,
	"upstream_cost" bigint NOT NULL,
	CONSTRAINT "margin_days_bucket_day_service_model_lane_pk" PRIMARY KEY("bucket","day","service","model","lane")
);
--> statement-breakpoint
CREATE TABLE "usage_rollups" (
	"account" bigint NOT NULL,
	"minutes" smallint NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"key" bigint NOT NULL,
	"service" text NOT NULL,
	"model" text NOT NULL,
	"status" text NOT NULL,
	"calls" integer NOT NULL,
	"prompt_tokens" bigint NOT NULL,
	"cached_tokens" bigint NOT NULL,
	"completion_tokens" bigint NOT NULL,
	"cost" bigint NOT NULL,
	"free_cost" bigint NOT NULL,
	"latencies" "bytea",
	CONSTRAINT "usage_rollups_account_minutes_at_key_service_model_status_pk" PRIMARY KEY("account","minutes","at","key","service","model","status")
);
--> statement-breakpoint
CREATE TABLE "audit_runs" (
	"number" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "audit_runs_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"id" text NOT NULL,
	"account" bigint,
	"actor" text NOT NULL,
	"state" text DEFAULT 'waiting' NOT NULL,
	"done" integer DEFAULT 0 NOT NULL,
	"total" integer,
	"report" jsonb,
	"failure" text,
	"created_at" timestamp with time zone NOT NULL,
	"seen_at" timestamp with time zone,
	"ended_at" timestamp with time zone,
	CONSTRAINT "audit_runs_id_unique" UNIQUE("id")
);
--> statement-breakpoint
CREATE TABLE "operator_actions" (
	"number" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "operator_actions_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"id" text NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"person" text NOT NULL,
	"actor" text NOT NULL,
	"country" text,
	"action" text NOT NULL,
	"account" bigint,
	"subject" text,
	"about" text NOT NULL,
	"reason" text NOT NULL,
	"outcome" text NOT NULL,
	"detail" text,
	CONSTRAINT "operator_actions_id_unique" UNIQUE("id")
);
--> statement-breakpoint
CREATE TABLE "configurations" (
	"version" integer PRIMARY KEY NOT NULL,
	"text" text NOT NULL,
	"digest" text NOT NULL,
	"actor" text NOT NULL,
	"note" text,
	"changes" text[] NOT NULL,
	"rolls_back_to" integer,
	"at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "document_sources" (
	"number" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "document_sources_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"name" text NOT NULL,
	"revision" uuid DEFAULT gen_random_uuid() NOT NULL,
	"updated_at" timestamp with time zone NOT NULL,
	CONSTRAINT "document_sources_name_unique" UNIQUE("name")
);
--> statement-breakpoint
CREATE TABLE "index_state" (
	"id" smallint PRIMARY KEY DEFAULT 1 NOT NULL,
	"identity" uuid DEFAULT gen_random_uuid() NOT NULL,
	"version" bigint DEFAULT 0 NOT NULL,
	"revision" uuid DEFAULT gen_random_uuid() NOT NULL,
	CONSTRAINT "index_state_single" CHECK ("index_state"."id" = 1)
);
--> statement-breakpoint
CREATE TABLE "indexed_documents" (
	"id" "bytea" PRIMARY KEY NOT NULL,
	"source" integer NOT NULL,
	"url" text NOT NULL,
	"title" text NOT NULL,
	"text" text NOT NULL,
	"keywords" text NOT NULL,
	"date" text,
	"language" text
);
--> statement-breakpoint
ALTER TABLE "imported" ADD CONSTRAINT "imported_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "keys" ADD CONSTRAINT "keys_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "operations" ADD CONSTRAINT "operations_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "operations" ADD CONSTRAINT "operations_payment_payments_number_fk" FOREIGN KEY ("payment") REFERENCES "public"."payments"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payments" ADD CONSTRAINT "payments_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ledger_entries" ADD CONSTRAINT "ledger_entries_account_operation_operations_account_number_fk" FOREIGN KEY ("account","operation") REFERENCES "public"."operations"("account","number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mail_messages" ADD CONSTRAINT "mail_messages_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "auto_top_ups" ADD CONSTRAINT "auto_top_ups_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "auto_top_ups" ADD CONSTRAINT "auto_top_ups_card_saved_cards_number_fk" FOREIGN KEY ("card") REFERENCES "public"."saved_cards"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "bonus_claims" ADD CONSTRAINT "bonus_claims_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "bonus_claims" ADD CONSTRAINT "bonus_claims_top_up_top_ups_number_fk" FOREIGN KEY ("top_up") REFERENCES "public"."top_ups"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "plan_charges" ADD CONSTRAINT "plan_charges_top_up_top_ups_number_fk" FOREIGN KEY ("top_up") REFERENCES "public"."top_ups"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "plan_subscriptions" ADD CONSTRAINT "plan_subscriptions_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "plan_subscriptions" ADD CONSTRAINT "plan_subscriptions_card_saved_cards_number_fk" FOREIGN KEY ("card") REFERENCES "public"."saved_cards"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "provider_customers" ADD CONSTRAINT "provider_customers_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "refund_attempts" ADD CONSTRAINT "refund_attempts_top_up_top_ups_number_fk" FOREIGN KEY ("top_up") REFERENCES "public"."top_ups"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "saved_cards" ADD CONSTRAINT "saved_cards_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "top_ups" ADD CONSTRAINT "top_ups_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "top_ups" ADD CONSTRAINT "top_ups_card_saved_cards_number_fk" FOREIGN KEY ("card") REFERENCES "public"."saved_cards"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "top_ups" ADD CONSTRAINT "top_ups_payment_payments_number_fk" FOREIGN KEY ("payment") REFERENCES "public"."payments"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "activity" ADD CONSTRAINT "activity_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_person_people_id_fk" FOREIGN KEY ("person") REFERENCES "public"."people"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "passkeys" ADD CONSTRAINT "passkeys_person_people_id_fk" FOREIGN KEY ("person") REFERENCES "public"."people"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "person_credentials" ADD CONSTRAINT "person_credentials_person_people_id_fk" FOREIGN KEY ("person") REFERENCES "public"."people"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_person_people_id_fk" FOREIGN KEY ("person") REFERENCES "public"."people"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sign_up_grants" ADD CONSTRAINT "sign_up_grants_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "two_factors" ADD CONSTRAINT "two_factors_person_people_id_fk" FOREIGN KEY ("person") REFERENCES "public"."people"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "audit_runs" ADD CONSTRAINT "audit_runs_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "operator_actions" ADD CONSTRAINT "operator_actions_account_accounts_number_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "indexed_documents" ADD CONSTRAINT "indexed_documents_source_document_sources_number_fk" FOREIGN KEY ("source") REFERENCES "public"."document_sources"("number") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "accounts_unapplied" ON "accounts" USING btree ("number") WHERE "accounts"."applied_version" < "accounts"."version";--> statement-breakpoint
CREATE INDEX "keys_account" ON "keys" USING btree ("account");--> statement-breakpoint
CREATE INDEX "keys_expiring" ON "keys" USING btree ("expires_at") WHERE "keys"."expires_at" IS NOT NULL AND "keys"."revoked_at" IS NULL;--> statement-breakpoint
CREATE INDEX "operations_payment" ON "operations" USING btree ("payment");--> statement-breakpoint
CREATE INDEX "operations_unbooked" ON "operations" USING btree ("created_at") WHERE NOT "operations"."booked";--> statement-breakpoint
CREATE INDEX "operations_running" ON "operations" USING btree ("expires_at") WHERE "operations"."balance" = 'free' AND NOT "operations"."ended";--> statement-breakpoint
CREATE UNIQUE INDEX "operations_allowance" ON "operations" USING btree ("account","allowance_month");--> statement-breakpoint
CREATE UNIQUE INDEX "operations_reference" ON "operations" USING btree ("account","reference");--> statement-breakpoint
CREATE INDEX "payments_account" ON "payments" USING btree ("account");--> statement-breakpoint
CREATE INDEX "payments_reversed" ON "payments" USING btree ("account") WHERE "payments"."refunded" > 0 OR "payments"."dispute" IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "payments_provider_ref" ON "payments" USING btree ("provider","provider_ref");--> statement-breakpoint
CREATE UNIQUE INDEX "ledger_request" ON "ledger_entries" USING btree ("request","kind");--> statement-breakpoint
CREATE UNIQUE INDEX "ledger_operation" ON "ledger_entries" USING btree ("account","operation");--> statement-breakpoint
CREATE INDEX "rejected_entries_open" ON "rejected_entries" USING btree ("account") WHERE "rejected_entries"."resolved_at" IS NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "request_log_request" ON "request_log" USING btree ("request","at");--> statement-breakpoint
CREATE INDEX "request_log_account" ON "request_log" USING btree ("account","at");--> statement-breakpoint
CREATE INDEX "request_log_at" ON "request_log" USING brin ("at");--> statement-breakpoint
CREATE INDEX "mail_messages_open" ON "mail_messages" USING btree ("created_at") WHERE "mail_messages"."settled_at" IS NULL;--> statement-breakpoint
CREATE INDEX "mail_repeats_created" ON "mail_repeats" USING brin ("created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "bonus_claims_card" ON "bonus_claims" USING btree ("provider","fingerprint");--> statement-breakpoint
CREATE INDEX "plan_subscriptions_due" ON "plan_subscriptions" USING btree ("paid_until") WHERE "plan_subscriptions"."state" = 'active';--> statement-breakpoint
CREATE UNIQUE INDEX "provider_customers_customer" ON "provider_customers" USING btree ("provider","customer");--> statement-breakpoint
CREATE INDEX "provider_events_received" ON "provider_events" USING btree ("received_at") WHERE "provider_events"."status" = 'received';--> statement-breakpoint
CREATE UNIQUE INDEX "saved_cards_ref" ON "saved_cards" USING btree ("provider","ref");--> statement-breakpoint
CREATE INDEX "saved_cards_account" ON "saved_cards" USING btree ("account");--> statement-breakpoint
CREATE INDEX "top_ups_account" ON "top_ups" USING btree ("account");--> statement-breakpoint
CREATE UNIQUE INDEX "top_ups_request" ON "top_ups" USING btree ("account","request");--> statement-breakpoint
CREATE UNIQUE INDEX "top_ups_checkout" ON "top_ups" USING btree ("provider","checkout");--> statement-breakpoint
CREATE UNIQUE INDEX "top_ups_intent" ON "top_ups" USING btree ("provider","intent");--> statement-breakpoint
CREATE INDEX "top_ups_open" ON "top_ups" USING btree ("created_at") WHERE "top_ups"."status" = 'open';--> statement-breakpoint
CREATE UNIQUE INDEX "top_ups_one_auto" ON "top_ups" USING btree ("account") WHERE "top_ups"."kind" = 'auto' AND "top_ups"."status" = 'open';--> statement-breakpoint
CREATE UNIQUE INDEX "top_ups_one_plan" ON "top_ups" USING btree ("account") WHERE "top_ups"."kind" = 'plan' AND "top_ups"."status" = 'open';--> statement-breakpoint
CREATE INDEX "activity_account" ON "activity" USING btree ("account","number");--> statement-breakpoint
CREATE INDEX "attempts_ends_at" ON "attempts" USING btree ("ends_at");--> statement-breakpoint
CREATE UNIQUE INDEX "invitations_open" ON "invitations" USING btree ("account","email") WHERE ended_at IS NULL;--> statement-breakpoint
CREATE INDEX "memberships_person" ON "memberships" USING btree ("person");--> statement-breakpoint
CREATE INDEX "passkeys_person" ON "passkeys" USING btree ("person");--> statement-breakpoint
CREATE UNIQUE INDEX "person_credentials_provider" ON "person_credentials" USING btree ("person","provider");--> statement-breakpoint
CREATE UNIQUE INDEX "person_credentials_account" ON "person_credentials" USING btree ("provider","provider_account");--> statement-breakpoint
CREATE INDEX "sessions_person" ON "sessions" USING btree ("person");--> statement-breakpoint
CREATE INDEX "sessions_expires_at" ON "sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "two_factors_person" ON "two_factors" USING btree ("person");--> statement-breakpoint
CREATE INDEX "verifications_identifier" ON "verifications" USING btree ("identifier");--> statement-breakpoint
CREATE INDEX "verifications_expires_at" ON "verifications" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "verifications_value" ON "verifications" USING hash ("value");--> statement-breakpoint
CREATE INDEX "outbox_waiting" ON "outbox" USING btree ("next_attempt_at") WHERE "outbox"."status" = 'waiting';--> statement-breakpoint
CREATE INDEX "outbox_recipient" ON "outbox" USING btree (lower("recipient"),"kind","created_at");--> statement-breakpoint
CREATE INDEX "outbox_account" ON "outbox" USING btree ("account");--> statement-breakpoint
CREATE INDEX "margin_days_day" ON "margin_days" USING btree ("day");--> statement-breakpoint
CREATE INDEX "operator_actions_account" ON "operator_actions" USING btree ("account","number");--> statement-breakpoint
CREATE INDEX "indexed_documents_source" ON "indexed_documents" USING btree ("source","id");--> statement-breakpoint
-- What is sealed cannot be packed.
ALTER TABLE "mail_contents" ALTER COLUMN "box" SET STORAGE EXTERNAL;--> statement-breakpoint
-- Rows of the present quarter of an hour change with every flush: room for them to stay in place.
ALTER TABLE "usage_rollups" SET (fillfactor = 80);--> statement-breakpoint
-- A partition has its columns in an order of its own: values of eight bytes first, then shorter
-- ones, then texts. In the order of the parent, gaps for alignment make most rows eight bytes
-- longer.
CREATE FUNCTION "ensure_request_log_partition"("month_start" date) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	partition_name text := 'request_log_' || to_char(month_start, 'YYYYMM');
	column_list text;
	check_list text;
BEGIN
	-- Two sessions that make the same table at once would fail.
	PERFORM pg_advisory_xact_lock(720314003);
	IF to_regclass(quote_ident(partition_name)) IS NOT NULL THEN
		RETURN;
	END IF;
	SELECT string_agg(
		format('%I %s', attname, format_type(atttypid, atttypmod)) || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END,
		', ' ORDER BY attlen < 0, position(attalign::text IN 'disc'), attnum
	)
	INTO column_list
	FROM pg_attribute
	WHERE attrelid = 'request_log'::regclass AND attnum > 0 AND NOT attisdropped;
	SELECT string_agg(format(', CONSTRAINT %I CHECK (%s)', conname, pg_get_expr(conbin, conrelid)), '')
	INTO check_list
	FROM pg_constraint
	WHERE conrelid = 'request_log'::regclass AND contype = 'c';
	EXECUTE format('CREATE TABLE %I (%s%s)', partition_name, column_list, check_list);
	-- Only where all its entries have one length does Postgres leave a page full behind calls of an
	-- account that come in the order of time.
	EXECUTE format('CREATE INDEX ON %I (account, at) WITH (deduplicate_items = off)', partition_name);
	EXECUTE format(
		'ALTER TABLE request_log ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
		partition_name,
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
