-- refused: query 'a', line 5, column 46: expected no aggregate in WHERE, but found avg(…); write it in SELECT or HAVING
-- refused: query 'b', line 6, column 51: expected no aggregate in GROUP BY, but found sum(…); write it in SELECT or HAVING
-- refused: query 'c', line 7, column 30: expected no aggregate in an aggregate, but found avg(…); aggregate columns of single rows
CREATE STREAM t (at TIMESTAMP, server STRING, bytes BIGINT, note STRING, ok BOOLEAN) ORDER BY at;
CREATE EVENT a AS SELECT server FROM t WHERE avg(bytes) > 1;
CREATE EVENT b AS SELECT count(*) FROM t GROUP BY sum(bytes), window(at, '1 hour');
CREATE EVENT c AS SELECT sum(avg(bytes)) FROM t GROUP BY window(at, '1 hour');
