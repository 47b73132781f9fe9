-- refused: query 'a', line 9, column 60: expected ')', but found ','; check the spelling and the commas around it
-- refused: query 'b', line 10, column 60: expected ')', but found ','; check the spelling and the commas around it
-- refused: query 'c', line 11, column 63: expected ')', but found ','; check the spelling and the commas around it
-- refused: query 'd', line 12, column 51: expected window(…), but found session_window(…); session_window is not supported yet; write window(at, '5 minutes') or window(at, '5 minutes', '1 minute')
-- refused: query 'e', line 13, column 58: expected ')', but found ','; check the spelling and the commas around it
-- refused: query 'f', line 14, column 26: expected a column, but found 'window.start' in SELECT; group by window(…) first; window.start and window.end can then be selected
-- refused: query 'g', line 15, column 61: expected valid SQL, but found the end of the statement; check the spelling and the commas around it
CREATE STREAM t (at TIMESTAMP, server STRING, bytes BIGINT, note STRING, ok BOOLEAN) ORDER BY at;
CREATE EVENT a AS SELECT count(*) FROM t GROUP BY window(at, '1 hour'), window(at, '2 hours');
CREATE EVENT b AS SELECT count(*) FROM t GROUP BY window(at, '1 hour', '2 hours');
CREATE EVENT c AS SELECT count(*) FROM t GROUP BY window(bytes, '1 our');
CREATE EVENT d AS SELECT count(*) FROM t GROUP BY session_window(at, '1 hour');
CREATE EVENT e AS SELECT window FROM t GROUP BY window(at, '0 seconds');
CREATE EVENT f AS SELECT window.start FROM t;
CREATE EVENT g AS SELECT count(*) FROM t GROUP BY window(at);
