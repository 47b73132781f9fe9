-- refused: query 'a', line 4, column 59: expected a window around the aggregates of an event, but found a stream without end; add window(at, '5 minutes') to GROUP BY
-- refused: query 'b', line 5, column 26: expected a window around the aggregates of an event, but found a stream without end; add window(at, '5 minutes') to GROUP BY
CREATE STREAM t (at TIMESTAMP, server STRING, bytes BIGINT, note STRING, ok BOOLEAN) ORDER BY at;
CREATE EVENT a AS SELECT server, count(*) FROM t GROUP BY server;
CREATE EVENT b AS SELECT avg(bytes) FROM t;
