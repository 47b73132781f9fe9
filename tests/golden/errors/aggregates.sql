-- refused: query 'a', line 9, column 26: expected a number or a time in min over a window, but found STRING; STRING is not supported there yet; group by the text
-- refused: query 'a', line 9, column 39: expected a number or a time in max over a window, but found BOOLEAN; BOOLEAN is not supported there yet; use CAST(… AS INT)
-- refused: query 'a', line 9, column 48: expected a number in sum, but found STRING; use CAST(… AS DOUBLE) if the values are numbers
-- refused: query 'a', line 9, column 61: expected a number in avg, but found TIMESTAMP; use CAST(… AS DOUBLE) if the values are numbers
-- refused: query 'a', line 9, column 70: expected count(DISTINCT column), but found sum(DISTINCT …); only count(DISTINCT column) is supported; join several columns with concat
-- refused: query 'a', line 9, column 91: expected one argument of count, but found 0; write count(column)
-- refused: query 'a', line 9, column 106: expected a typed value, but found NULL; write CAST(NULL AS DOUBLE)
CREATE STREAM t (at TIMESTAMP, server STRING, bytes BIGINT, note STRING, ok BOOLEAN) ORDER BY at;
CREATE EVENT a AS SELECT min(server), max(ok), sum(server), avg(at), sum(DISTINCT bytes), count(), count(NULL) FROM t
GROUP BY window(at, '1 hour');
