-- A partition has its columns in an order of its own: values of eight bytes first, then shorter
-- ones, then texts. In the order of the parent, gaps for alignment make most rows eight bytes
-- longer. Partitions with rows stay as they are.
CREATE OR REPLACE FUNCTION "ensure_request_log_partition"("month_start" date) RETURNS void LANGUAGE plpgsql AS $$
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
-- The partitions of the next months, which are still empty, are made again.
DO $$
DECLARE
	partition_name text;
	is_empty boolean;
BEGIN
	LOCK TABLE request_log IN ACCESS EXCLUSIVE MODE;
	FOR partition_name IN
		SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
		WHERE i.inhparent = 'request_log'::regclass AND c.relname ~ '^request_log_[0-9]{6}$'
		ORDER BY c.relname
	LOOP
		EXECUTE format('SELECT NOT EXISTS (SELECT FROM %I)', partition_name) INTO is_empty;
		IF is_empty THEN
			EXECUTE format('DROP TABLE %I', partition_name);
			PERFORM ensure_request_log_partition(to_date(right(partition_name, 6), 'YYYYMM'));
		END IF;
	END LOOP;
END $$;
