-- refused: query 'a', line 13, column 26: expected SELECT … FROM … WHERE … GROUP BY … HAVING, but found DISTINCT; use GROUP BY, or count(DISTINCT column)
-- refused: query 'a', line 13, column 58: expected SELECT … FROM … WHERE … GROUP BY … HAVING, but found ORDER BY; leave it out: rows come in the order of the stream
-- refused: query 'a', line 13, column 71: expected SELECT … FROM … WHERE … GROUP BY … HAVING, but found LIMIT; leave it out: a stream has no end
-- refused: query 'b', line 14, column 47: expected SELECT … FROM … WHERE … GROUP BY … HAVING, but found JOIN; joins are not supported yet; read one stream
-- refused: query 'c', line 15, column 19: expected one SELECT, but found UNION of several; write one query for each
-- refused: query 'd', line 16, column 46: expected a stream or event after FROM, but found a subquery or values; write FROM and the name of a stream or event; subqueries are not supported
-- refused: query 'e', line 17, column 24: expected SELECT … FROM … WHERE … GROUP BY … HAVING, but found WITH; write a CREATE EVENT for the inner query and read from it
-- refused: query 'f', line 18, column 61: expected a value, but found a subquery; subqueries are not supported; write two queries
-- refused: query 'g', line 19, column 26: expected a value, but found OVER (…); use GROUP BY window(…) instead of OVER
-- refused: query 'h', line 20, column 38: expected a stream or event, but found HISTORY(…); history is read in a CREATE RECALL; here, name the stream
-- refused: query 'i', line 21, column 43: expected SELECT … FROM … WHERE … GROUP BY … HAVING, but found JOIN; joins are not supported yet; read one stream
CREATE STREAM t (at TIMESTAMP, server STRING, bytes BIGINT, note STRING, ok BOOLEAN) ORDER BY at;
CREATE EVENT a AS SELECT DISTINCT server FROM t ORDER BY server LIMIT 3;
CREATE EVENT b AS SELECT t.server FROM t JOIN t AS u ON t.server = u.server;
CREATE EVENT c AS SELECT server FROM t UNION ALL SELECT server FROM t;
CREATE EVENT d AS SELECT server FROM (SELECT server FROM t);
CREATE EVENT e AS WITH q AS (SELECT 1) SELECT server FROM t;
CREATE EVENT f AS SELECT bytes FROM t WHERE bytes > (SELECT 1);
CREATE EVENT g AS SELECT row_number() OVER (PARTITION BY server ORDER BY at) FROM t;
CREATE EVENT h AS SELECT server FROM HISTORY(t);
CREATE EVENT i AS SELECT t.server FROM t, t AS u;
