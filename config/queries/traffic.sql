-- Filters, projections and windows over one stream: a pack to learn from and to test engines with.

CREATE STREAM traffic (at TIMESTAMP, server STRING, bytes BIGINT)
ORDER BY at LATENESS '1 minute'
FROM LANDING 'traffic';

CREATE EVENT large_transfer AS
SELECT server, bytes, bytes / 1048576 AS mebibytes, upper(server) AS label FROM traffic WHERE bytes > 900000;

CREATE EVENT hourly_profile AS
SELECT server, count(*) AS samples, sum(bytes) AS total, avg(bytes) AS mean, min(bytes) AS least, max(bytes) AS most,
       stddev(bytes) AS spread, count(DISTINCT bytes) AS sizes
FROM traffic GROUP BY server, window(at, '1 hour');

CREATE EVENT busy_fleet AS
SELECT window.start AS began, count(*) AS samples, avg(bytes) AS mean FROM traffic
WHERE bytes IS NOT NULL GROUP BY window(at, '10 minutes', '5 minutes') HAVING avg(bytes) > 100000;

CREATE EVENT uneven_group AS
SELECT substring(server, 1, 3) AS site, stddev_pop(bytes) AS spread, variance(bytes) AS spread_squared FROM traffic
GROUP BY substring(server, 1, 3), window(at, '7 minutes', '3 minutes') HAVING count(*) > 3;

CREATE RECALL usual_size FOR large_transfer e
OVER ALL
AS SELECT avg(h.bytes) AS mean, stddev(h.bytes) AS spread, count(*) AS samples, sum(h.bytes) AS total
FROM HISTORY(traffic) h WHERE h.server = e.server AND h.bytes < e.bytes;
