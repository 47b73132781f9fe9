-- refused: query 'a', line 14, column 21: expected an event, but found the stream 't'; a stream cannot be read here yet; name an event
-- refused: query 'b', line 15, column 38: expected a duration, but found '30 dys'; write a number and a unit, such as '5 minutes' or '30 days'
-- refused: query 'b', line 15, column 60: expected a duration above zero that fits, but found '0 s'; write a number and a unit, such as '5 minutes' or '30 days'
-- refused: query 'b', line 15, column 120: expected a column of the event 'e', but found 'srver'; write 'server'
-- refused: query 'c', line 16, column 47: expected an aggregate in a recall, but found none; select an aggregate such as count(*) or avg(x); listing rows is not supported yet
-- refused: query 'd', line 17, column 61: expected HISTORY(…) in a recall, but found 't'; write FROM HISTORY(t) h
-- refused: query 'e', line 18, column 21: expected OVER after the event, but found AS; write how far back to look: OVER LAST '30 days' or OVER ALL
-- refused: query 'f', line 19, column 83: expected no window in a recall, but found window(…); use date_trunc('hour', …) as a key
-- refused: query 'g', line 20, column 69: expected two names for the event and its history, but found 'e' for both; rename one of them
-- refused: query 'h', line 21, column 80: expected a column of 't', but found 'total'; write 'e.total' for the event's column
-- refused: query 'i', line 22, column 49: expected a whole number above zero, but found '0'; write a number such as 8
CREATE STREAM t (at TIMESTAMP, server STRING, bytes BIGINT, note STRING, ok BOOLEAN) ORDER BY at;
CREATE EVENT busy AS SELECT server, sum(bytes) AS total FROM t GROUP BY server, window(at, '1 hour');
CREATE RECALL a FOR t e OVER ALL AS SELECT count(*) FROM HISTORY(t) h;
CREATE RECALL b FOR busy e OVER LAST '30 dys' REPORT EVERY '0 s' AS SELECT count(*) FROM HISTORY(t) h WHERE h.server = e.srver;
CREATE RECALL c FOR busy e OVER ALL AS SELECT server FROM HISTORY(t) h;
CREATE RECALL d FOR busy e OVER ALL AS SELECT count(*) FROM t;
CREATE RECALL e FOR busy e AS SELECT count(*) FROM HISTORY(t) h;
CREATE RECALL f FOR busy e OVER ALL AS SELECT count(*) FROM HISTORY(t) h GROUP BY window(at, '1 hour');
CREATE RECALL g FOR busy e OVER ALL AS SELECT count(*) FROM HISTORY(t) e;
CREATE RECALL h FOR busy e OVER ALL AS SELECT count(*) FROM HISTORY(t) h WHERE total > 1;
CREATE RECALL i FOR busy e OVER ALL PAUSE EVERY 0 CHUNKS AS SELECT count(*) FROM HISTORY(t) h;
