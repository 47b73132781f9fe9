CREATE STREAM traffic (at TIMESTAMP, server STRING, bytes BIGINT) ORDER BY at LATENESS '90 seconds' FROM KAFKA 'net.traffic';

CREATE EVENT tumbling AS SELECT count(*), count(DISTINCT server) AS servers, window.start FROM traffic GROUP BY window(at, '1 hour');

CREATE EVENT hopping AS
SELECT upper(server) AS s, sum(bytes) / count(bytes) AS mean, max(bytes) - min(bytes) AS spread, stddev(bytes)
FROM traffic WHERE bytes > 0
GROUP BY upper(server), bytes % 2, window(at, INTERVAL 1 HOUR, '7 minutes')
HAVING mean > 10 AND count(bytes) > 3;

CREATE EVENT cascade AS SELECT s, count(*) AS n FROM hopping GROUP BY s, window(at, '1 day');

CREATE RECALL before FOR hopping OVER ALL PAUSE EVERY 20 CHUNKS PATIENCE '10 minutes'
AS SELECT server, min(server) AS first, count(*) AS n, hopping.mean AS live FROM HISTORY(traffic)
WHERE upper(server) = hopping.s AND at > hopping.at - INTERVAL '1 day 2 hours' GROUP BY server HAVING n > 1;
