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
ALTER TABLE "indexed_documents" ADD CONSTRAINT "indexed_documents_source_document_sources_number_fk" FOREIGN KEY ("source") REFERENCES "public"."document_sources"("number") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "indexed_documents_source" ON "indexed_documents" USING btree ("source","id");