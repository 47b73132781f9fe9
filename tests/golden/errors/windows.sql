-- refused: query 'a', line 11, column 73: expected one window, but found a second one; write one event query for each window
-- refused: query 'b', line 12, column 72: expected a hop no longer than the window, but found a longer one; write window(at, '5 minutes') or window(at, '5 minutes', '1 minute')
-- refused: query 'c', line 13, column 58: expected the stream's time column 'at' in window, but found 'bytes'; write 'at'
-- refused: query 'c', line 13, column 65: expected a duration, but found '1 our'; write a number and a unit, such as '5 minutes' or '30 days'
-- refused: query 'd', line 14, column 51: expected window(…), but found session_window(…); session_window is not supported yet; write window(at, '5 minutes') or window(at, '5 minutes', '1 minute')
-- refused: query 'e', line 15, column 26: expected window.start or window.end, but found 'window'; select its two ends
-- refused: query 'e', line 15, column 60: expected a duration above zero that fits, but found '0 seconds'; write a number and a unit, such as '5 minutes' or '30 days'
-- refused: query 'f', line 16, column 26: expected a column, but found 'window.start' in SELECT; group by window(…) first; window.start and window.end can then be selected
-- refused: query 'g', line 17, column 51: expected 2 or 3 arguments of window, but found 1; write window(at, '5 minutes') or window(at, '5 minutes', '1 minute')
CREATE STREAM t (at TIMESTAMP, server STRING, bytes BIGINT, note STRING, ok BOOLEAN) ORDER BY at;
CREATE EVENT a AS SELECT count(*) FROM t GROUP BY window(at, '1 hour'), window(at, '2 hours');
CREATE EVENT b AS SELECT count(*) FROM t GROUP BY window(at, '1 hour', '2 hours');
CREATE EVENT c AS SELECT count(*) FROM t GROUP BY window(bytes, '1 our');
CREATE EVENT d AS SELECT count(*) FROM t GROUP BY session_window(at, '1 hour');
CREATE EVENT e AS SELECT window FROM t GROUP BY window(at, '0 seconds');
CREATE EVENT f AS SELECT window.start FROM t;
CREATE EVENT g AS SELECT count(*) FROM t GROUP BY window(at);
