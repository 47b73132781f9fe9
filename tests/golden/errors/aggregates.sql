-- refused: query 'a', line 4, column 19: expected ')', but found ','; check the spelling and the commas around it
CREATE STREAM t (at TIMESTAMP, server STRING, bytes BIGINT, note STRING, ok BOOLEAN) ORDER BY at;
CREATE EVENT a AS SELECT min(server), max(ok), sum(server), avg(at), sum(DISTINCT bytes), count(), count(NULL) FROM t
GROUP BY window(at, '1 hour');
