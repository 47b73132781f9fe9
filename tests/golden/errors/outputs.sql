-- refused: query 'a', line 10, column 26: expected a grouped column in SELECT, but found 'at'; add it to GROUP BY, or use an aggregate such as max(at)
-- refused: query 'a', line 10, column 31: expected a grouped column in SELECT, but found 'at'; add it to GROUP BY, or use an aggregate such as max(at)
-- refused: query 'a', line 10, column 35: expected a typed value, but found NULL; write CAST(NULL AS STRING) or another type
-- refused: query 'a', line 10, column 41: expected a window around the aggregates of an event, but found a stream without end; add window(at, '5 minutes') to GROUP BY
-- refused: query 'a', line 10, column 45: expected a value, but found '*'; name a column; only count(*) takes a star
-- refused: query 'a', line 10, column 49: expected a grouped column in SELECT, but found 'bytes'; add it to GROUP BY, or use an aggregate such as max(bytes)
-- refused: query 'a', line 10, column 62: expected a grouped column in SELECT, but found 'bytes'; add it to GROUP BY, or use an aggregate such as max(bytes)
-- refused: query 'a', line 10, column 62: expected a name of letters, digits and _, but found 'a b'; choose a simpler name after AS
CREATE STREAM t (at TIMESTAMP, server STRING, bytes BIGINT, note STRING, ok BOOLEAN) ORDER BY at;
CREATE EVENT a AS SELECT at - at, NULL, sum(*), bytes AS at, bytes AS `a b` FROM t;
