CREATE STREAM traffic (at TIMESTAMP, server STRING, bytes BIGINT)
ORDER BY at LATENESS '1 minute'                 -- event time, and how long to wait for stragglers
VALID FOR '5 minutes'                           -- lifetime of a row; see below
FROM LANDING 'traffic'                          -- files dropped in the landing folder; or FROM KAFKA 'topic'
WITH (chunk_size = '128 MiB', chunk_age = '1 day', recent_chunks = 8, retention = '400 days');

CREATE TABLE servers (server STRING, rack STRING, cpus INT) FROM 'tables/servers.csv';
CREATE STREAM auth (at TIMESTAMP, host STRING, user STRING, outcome STRING) ORDER BY at;
CREATE EVENT busy_server AS                                     -- windowed aggregate (Spark's own window function)
SELECT server, avg(bytes) AS bw FROM traffic
GROUP BY server, window(at, '5 minutes', '1 minute') HAVING avg(bytes) > 1000;
CREATE EVENT failed_login AS SELECT host, user FROM auth WHERE outcome = 'failed';   -- a plain filter
CREATE RECALL usual_bandwidth FOR busy_server e
OVER LAST '30 days' REPORT EVERY '2 seconds'              -- or OVER ALL PAUSE EVERY 20 CHUNKS PATIENCE '10 minutes'
AS SELECT avg(h.bytes) AS mean, stddev(h.bytes) AS spread FROM HISTORY(traffic) h WHERE h.server = e.server;
