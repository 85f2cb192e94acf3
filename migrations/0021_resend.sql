ALTER TABLE "outbox" DROP CONSTRAINT "outbox_content";--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "resent_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_content" CHECK (("outbox"."text" IS NULL) = ("outbox"."subject" IS NULL)
        AND ("outbox"."text" IS NULL) = ("outbox"."html" IS NULL)
        AND ("outbox"."status" <> 'waiting' OR "outbox"."text" IS NOT NULL)
        AND ("outbox"."status" <> 'sent' OR "outbox"."text" IS NULL));