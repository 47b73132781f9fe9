CREATE STREAM readings (at TIMESTAMP, host STRING, n INT, total BIGINT, load DOUBLE, up BOOLEAN) ORDER BY at;

SELECT n + total AS wider, n / 2, -n, n % 7, total div 2, load * 2, 0.3 * load AS third,
  CASE WHEN up THEN 'yes' END, CASE n WHEN 1 THEN 'one' ELSE 'many' END AS word, if(up, n, load), nullif(n, 0), nvl(host, '?'),
  CAST(n AS STRING), n::double, round(load, 1), host || '-' || n, substring(host, 1, 3), date_trunc('hour', at) AS hourly,
  at + INTERVAL 10 MINUTES AS later, greatest(n, total, 3), 3000000000, -2147483648, 'it''s', TIMESTAMP '2026-01-31 08:00:00'
FROM readings r
WHERE (up OR NOT r.up IS NULL) AND n BETWEEN 1 AND 10 AND host NOT IN ('a', 'b') AND host LIKE 'web%'
  AND at >= '2026-01-01' AND load <> 0 AND NOT (n = 1 OR n = 2) AND up IS TRUE AND total <=> NULL;
