-- The simulated data centre: what its streams look like, which incidents are events, and what history is asked.

CREATE STREAM traffic (at TIMESTAMP, server STRING, bytes BIGINT)
ORDER BY at LATENESS '1 minute'
FROM LANDING 'traffic';

CREATE STREAM logins (at TIMESTAMP, server STRING, user STRING, outcome STRING)
ORDER BY at LATENESS '1 minute'
FROM LANDING 'logins';

CREATE STREAM processes (at TIMESTAMP, server STRING, name STRING, cpu DOUBLE, disk DOUBLE)
ORDER BY at LATENESS '1 minute'
FROM LANDING 'processes';

CREATE STREAM heartbeats (at TIMESTAMP, server STRING, rtt_ms DOUBLE)
ORDER BY at LATENESS '1 minute'
FROM LANDING 'heartbeats';

CREATE TABLE servers (server STRING, rack STRING, cpus INT) FROM 'tables/servers.csv';

-- One event for each kind of incident.

CREATE EVENT bandwidth_flood AS
SELECT server, avg(bytes) AS bw, count(*) AS samples FROM traffic
GROUP BY server, window(at, '5 minutes', '1 minute') HAVING avg(bytes) > 1000000;

CREATE EVENT user_overload AS
SELECT server, count(*) AS attempts, count(DISTINCT user) AS users FROM logins
GROUP BY server, window(at, '5 minutes', '1 minute') HAVING count(*) > 50;

CREATE EVENT rogue_process AS
SELECT server, avg(cpu) AS cpu, max(cpu) AS peak FROM processes
GROUP BY server, window(at, '5 minutes', '1 minute') HAVING avg(cpu) > 85;

CREATE EVENT disk_filling AS
SELECT server, max(disk) AS disk FROM processes
GROUP BY server, window(at, '5 minutes', '1 minute') HAVING max(disk) > 95;

CREATE EVENT rack_switch AS
SELECT server, avg(rtt_ms) AS rtt_ms, stddev(rtt_ms) AS jitter FROM heartbeats
GROUP BY server, window(at, '5 minutes', '1 minute') HAVING avg(rtt_ms) > 40;

-- What history knows about each of them.

CREATE RECALL usual_bandwidth FOR bandwidth_flood e
OVER LAST '30 days' REPORT EVERY '2 seconds'
AS SELECT avg(h.bytes) AS mean, stddev(h.bytes) AS spread, max(h.bytes) AS most, count(*) AS samples
FROM HISTORY(traffic) h WHERE h.server = e.server;

CREATE RECALL usual_users FOR user_overload e
OVER LAST '30 days'
AS SELECT count(*) AS logins, count(DISTINCT h.user) AS users FROM HISTORY(logins) h WHERE h.server = e.server;

CREATE RECALL usual_load FOR rogue_process e
OVER LAST '30 days'
AS SELECT avg(h.cpu) AS mean, stddev(h.cpu) AS spread FROM HISTORY(processes) h WHERE h.server = e.server;

CREATE RECALL usual_rtt FOR rack_switch e
OVER LAST '30 days'
AS SELECT avg(h.rtt_ms) AS mean, stddev(h.rtt_ms) AS spread FROM HISTORY(heartbeats) h WHERE h.server = e.server;
