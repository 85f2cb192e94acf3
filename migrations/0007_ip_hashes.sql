CREATE TABLE "ip_hash_secrets" (
	"month" text PRIMARY KEY NOT NULL,
	"secret" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "upkeep_cursors" (
	"job" text PRIMARY KEY NOT NULL,
	"done_until" timestamp with time zone NOT NULL
);
