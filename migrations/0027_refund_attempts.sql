CREATE TABLE "refund_attempts" (
	"top_up" bigint NOT NULL,
	"reference" text NOT NULL,
	"amount" bigint,
	"attempt" integer NOT NULL,
	"broken_off_at" timestamp with time zone,
	CONSTRAINT "refund_attempts_top_up_reference_pk" PRIMARY KEY("top_up","reference")
);
--> statement-breakpoint
ALTER TABLE "refund_attempts" ADD CONSTRAINT "refund_attempts_top_up_top_ups_number_fk" FOREIGN KEY ("top_up") REFERENCES "public"."top_ups"("number") ON DELETE no action ON UPDATE no action;