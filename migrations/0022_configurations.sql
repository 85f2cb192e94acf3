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
