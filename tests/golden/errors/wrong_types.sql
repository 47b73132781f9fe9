-- refused: query 'a', line 11, column 26: expected numbers, but found BIGINT and STRING; use CAST(… AS DOUBLE) if the values are numbers
-- refused: query 'a', line 11, column 42: expected arguments of type STRING, but found BIGINT; use CAST(… AS …) to say what is meant
-- refused: query 'a', line 11, column 56: expected TIMESTAMP and INTERVAL, but found TIMESTAMP and INT; write an interval such as INTERVAL 10 MINUTES
-- refused: query 'a', line 11, column 69: expected a value that can become BOOLEAN, but found TIMESTAMP; TIMESTAMP can become INT, BIGINT, DOUBLE or STRING
-- refused: query 'a', line 11, column 86: expected numbers, but found STRING; use CAST(… AS DOUBLE) if the values are numbers
-- refused: query 'a', line 12, column 7: expected values of one type, but found STRING and INT; quote the number to compare texts, or use CAST(… AS DOUBLE) to compare numbers
-- refused: query 'a', line 12, column 22: expected a condition (BOOLEAN), but found BIGINT; compare the value with something, such as x <> 0
-- refused: query 'a', line 12, column 32: expected a text that spells a TIMESTAMP, but found 'noon'; write '2026-01-31 08:00:00'
-- refused: query 'a', line 12, column 48: expected a constant as argument 2, but found an expression; write the value itself
CREATE STREAM t (at TIMESTAMP, server STRING, bytes BIGINT, note STRING, ok BOOLEAN) ORDER BY at;
CREATE EVENT a AS SELECT bytes + server, upper(bytes), at + 5, CAST(at AS BOOLEAN), -server FROM t
WHERE server = 3 AND bytes AND at > 'noon' AND note LIKE server;
