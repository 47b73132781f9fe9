-- refused: query 'a', line 4, column 38: expected a stream or event defined above or deployed, but found 'tt'; write 't'
-- refused: query 'b', line 5, column 38: expected a stream or event defined above or deployed, but found 'nowhere'; known streams and events are t
CREATE STREAM t (at TIMESTAMP, server STRING, bytes BIGINT, note STRING, ok BOOLEAN) ORDER BY at;
CREATE EVENT a AS SELECT server FROM tt;
CREATE EVENT b AS SELECT server FROM nowhere;
