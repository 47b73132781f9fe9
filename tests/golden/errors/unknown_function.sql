-- refused: query 'a', line 4, column 26: expected a function, but found 'uper'; write 'upper'
-- refused: query 'a', line 4, column 40: expected a function, but found 'xyzzy'; known functions are abs, avg, ceil, ceiling, char_length, coalesce, concat, count, date_trunc, day, dayofmonth, dayofweek, …
CREATE STREAM t (at TIMESTAMP, server STRING, bytes BIGINT, note STRING, ok BOOLEAN) ORDER BY at;
CREATE EVENT a AS SELECT uper(server), xyzzy(bytes) FROM t;
