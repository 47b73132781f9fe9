-- refused: line 4, column 1: expected a text that ends with its quote, but found text that cannot be split into words; close the quote, or double it inside a text
CREATE STREAM t (at TIMESTAMP, server STRING, bytes BIGINT, note STRING, ok BOOLEAN) ORDER BY at;
CREATE EVENT a AS SELECT server FROM t WHERE server = 'web;
