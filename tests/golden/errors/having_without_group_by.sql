-- refused: query 'a', line 3, column 47: expected GROUP BY before HAVING, but found HAVING alone; use WHERE for conditions on single rows, or add GROUP BY
CREATE STREAM t (at TIMESTAMP, server STRING, bytes BIGINT, note STRING, ok BOOLEAN) ORDER BY at;
CREATE EVENT a AS SELECT server FROM t HAVING bytes > 1;
