-- refused: query 't', line 7, column 34: expected BOOLEAN, INT, BIGINT, DOUBLE, STRING or TIMESTAMP, but found 'float'; write DOUBLE
-- refused: query 't', line 7, column 43: expected BOOLEAN, INT, BIGINT, DOUBLE, STRING or TIMESTAMP, but found 'decimal'; write DOUBLE
-- refused: query 't', line 7, column 61: expected BOOLEAN, INT, BIGINT, DOUBLE, STRING or TIMESTAMP, but found 'date'; write TIMESTAMP
-- refused: query 't', line 7, column 69: expected BOOLEAN, INT, BIGINT, DOUBLE, STRING or TIMESTAMP, but found 'strng'; write 'STRING'
-- refused: query 't', line 7, column 76: expected a column with a type, but found 'e' alone; write a type after it, such as e STRING
-- refused: query 'u', line 8, column 23: expected a column, but found ')'; write (column TYPE, …), such as (at TIMESTAMP, server STRING, bytes BIGINT)
CREATE STREAM t (at TIMESTAMP, a FLOAT, b DECIMAL(10, 2), c DATE, d STRNG, e) ORDER BY at;
CREATE TABLE u (a INT,) FROM 'x';
