-- refused: query 'a', line 6, column 26: expected a column of 't', but found 'servr'; write 'server'
-- refused: query 'a', line 6, column 33: expected a column of 't', but found 'bites'; write 'bytes'
-- refused: query 'a', line 6, column 42: expected one of the relations t, but found 'u'; known relations are t
-- refused: query 'a', line 6, column 64: expected a column of 't', but found 'missing'; known columns are at, bytes, note, ok, server
CREATE STREAM t (at TIMESTAMP, server STRING, bytes BIGINT, note STRING, ok BOOLEAN) ORDER BY at;
CREATE EVENT a AS SELECT servr, t.bites, u.server FROM t WHERE missing > 1;
