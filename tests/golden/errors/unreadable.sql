-- refused: query 'a', line 9, column 39: expected valid SQL, but found 'WHERE'; check the spelling and the commas around it
-- refused: query 'b', line 10, column 53: expected valid SQL, but found the end of the statement; check the spelling and the commas around it
-- refused: query 'c', line 11, column 26: expected a ) for this (, but found the end of the statement; add the missing )
-- refused: query 'd', line 12, column 32: expected a ( before this ), but found ')'; add the missing ( or remove this )
-- refused: query 'e', line 13, column 16: expected AS, but found 'SELECT'; write CREATE EVENT e AS SELECT …
-- refused: query 'f', line 15, column 1: expected valid SQL, but found 'CREATE'; end the statement before it with ';'
-- refused: line 16, column 14: expected a name for the event, but found 'AS'; write CREATE EVENT and a name
CREATE STREAM t (at TIMESTAMP, server STRING, bytes BIGINT, note STRING, ok BOOLEAN) ORDER BY at;
CREATE EVENT a AS SELECT server, FROM WHERE;
CREATE EVENT b AS SELECT server FROM t WHERE bytes > ;
CREATE EVENT c AS SELECT (server FROM t;
CREATE EVENT d AS SELECT server) FROM t;
CREATE EVENT e SELECT server FROM t;
CREATE EVENT f AS SELECT server FROM t
CREATE EVENT g AS SELECT server FROM t;
CREATE EVENT AS SELECT 1;
