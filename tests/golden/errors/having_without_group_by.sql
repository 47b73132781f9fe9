-- refused: query 'a', line 5, column 26: expected a grouped column in SELECT, but found 'server'; add it to GROUP BY, or use an aggregate such as max(server)
-- refused: query 'a', line 5, column 47: expected GROUP BY before HAVING, but found HAVING alone; use WHERE, or add GROUP BY window(at, …)
-- refused: query 'a', line 5, column 47: expected a grouped column in HAVING, but found 'bytes'; add it to GROUP BY, or use an aggregate such as max(bytes)
CREATE STREAM t (at TIMESTAMP, server STRING, bytes BIGINT, note STRING, ok BOOLEAN) ORDER BY at;
CREATE EVENT a AS SELECT server FROM t HAVING bytes > 1;
