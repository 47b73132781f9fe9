-- refused: query 't', line 6, column 14: expected a name that is still free, but found 't', defined in line 5; rename one of them
-- refused: query 'u', line 7, column 24: expected columns with distinct names, but found 'a' twice; rename one of them
-- refused: query 'e', line 8, column 48: expected output columns with distinct names, but found 'x' twice; rename one with AS
-- refused: query 'e', line 9, column 14: expected a name that is still free, but found 'e', defined in line 8; rename one of them
CREATE STREAM t (at TIMESTAMP, server STRING, bytes BIGINT, note STRING, ok BOOLEAN) ORDER BY at;
CREATE TABLE t (a INT) FROM 'b.csv';
CREATE TABLE u (a INT, a INT) FROM 'a.csv';
CREATE EVENT e AS SELECT server AS x, bytes AS x FROM t;
CREATE EVENT e AS SELECT server FROM t;
