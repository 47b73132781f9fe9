-- refused: line 3, column 55: expected quotes and comments that end, but found a quote that is never closed; close it; a quote inside a text is written twice
CREATE STREAM t (at TIMESTAMP, server STRING, bytes BIGINT, note STRING, ok BOOLEAN) ORDER BY at;
CREATE EVENT a AS SELECT server FROM t WHERE server = 'web;
