-- refused: line 5, column 1: expected a statement, but found 'DROP'; write CREATE STREAM, CREATE TABLE, CREATE EVENT, CREATE RECALL or SELECT
-- refused: line 6, column 8: expected a statement, but found 'EVNT'; write 'EVENT', or write CREATE STREAM, CREATE TABLE, CREATE EVENT, CREATE RECALL or SELECT
-- refused: line 7, column 8: expected STREAM, TABLE, EVENT or RECALL, but found 'OR'; leave it out: deploying a name again replaces it
-- refused: line 8, column 1: expected CREATE STREAM, but found 'STREAM'; write CREATE before STREAM
DROP TABLE t;
CREATE EVNT a AS SELECT 1;
CREATE OR REPLACE EVENT a AS SELECT 1;
STREAM speed(a, b) ORDER BY b;
