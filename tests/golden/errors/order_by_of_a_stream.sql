-- refused: query 'a', line 8, column 15: expected a stream with ORDER BY, but found none; arrival order is not supported yet; write ORDER BY and the TIMESTAMP column of the event time
-- refused: query 'b', line 9, column 38: expected a TIMESTAMP column in ORDER BY, but found 'at' BIGINT; order by a TIMESTAMP column; application time in other units is not supported yet
-- refused: query 'c', line 10, column 41: expected a column of the stream in ORDER BY, but found 'when'; known columns are at
-- refused: query 'd', line 11, column 44: expected ORDER once, but found 'ORDER BY'; remove the second ORDER
-- refused: query 'e', line 12, column 50: expected FOR, but found 'UNTIL'; these lifetimes are not supported yet; write VALID FOR '5 minutes' or leave it out
-- refused: query 'f', line 13, column 49: expected LANDING or KAFKA, but found '../secret'; write FROM LANDING 'folder' or FROM KAFKA 'topic'
-- refused: query 'g', line 14, column 57: expected the name of a folder or topic, but found '../secret'; write a plain name of letters, digits, '-', '_' and '.'
CREATE STREAM a (at TIMESTAMP, x INT);
CREATE STREAM b (at BIGINT) ORDER BY at;
CREATE STREAM c (at TIMESTAMP) ORDER BY when;
CREATE STREAM d (at TIMESTAMP) ORDER BY at ORDER BY at;
CREATE STREAM e (at TIMESTAMP) ORDER BY at VALID UNTIL NEXT BY (at);
CREATE STREAM f (at TIMESTAMP) ORDER BY at FROM '../secret';
CREATE STREAM g (at TIMESTAMP) ORDER BY at FROM LANDING '../secret';
