-- refused: query 'a', line 6, column 38: expected a stream or event, but found the table 'servers'; a table cannot be read here yet; name a stream or event
-- refused: line 7, column 1: expected FROM, but found a SELECT without it; write FROM and the name of a stream or event
-- refused: line 8, column 1: expected a name that is still free, but found a second bare SELECT; name one with CREATE EVENT … AS
-- refused: line 8, column 20: expected a stream or event, but found the table 'servers'; a table cannot be read here yet; name a stream or event
CREATE TABLE servers (server STRING) FROM 'servers.csv';
CREATE EVENT a AS SELECT server FROM servers;
SELECT 1;
SELECT server FROM servers;
