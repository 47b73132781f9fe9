-- refused: query 't', line 3, column 50: expected an option of a stream, but found 'chunksize'; write 'chunk_size'
-- refused: query 't', line 3, column 92: expected each option once, but found 'retention' twice; remove one of them
CREATE STREAM t (at TIMESTAMP) ORDER BY at WITH (chunksize = '1 MiB', retention = '1 day', retention = '2 days');
