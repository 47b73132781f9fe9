-- refused: query 'a', line 6, column 34: expected a grouped column in SELECT, but found 'bytes'; add it to GROUP BY, or use an aggregate such as max(bytes)
-- refused: query 'a', line 6, column 92: expected a grouped column in HAVING, but found 'note'; add it to GROUP BY, or use an aggregate such as max(note)
-- refused: query 'a', line 6, column 107: expected window.start or window.end, but found 'window.middle'; write window.start or window.end
-- refused: query 'a', line 6, column 123: expected a grouped column in HAVING, but found 'at'; add it to GROUP BY, or use an aggregate such as max(at)
CREATE STREAM t (at TIMESTAMP, server STRING, bytes BIGINT, note STRING, ok BOOLEAN) ORDER BY at;
CREATE EVENT a AS SELECT server, bytes FROM t GROUP BY server, window(at, '1 hour') HAVING note = 'x' AND window.middle > at;
