-- refused: query 'a', line 4, column 38: expected a filter or a window, but found PARTITION BY … AS (…); sequences are not supported yet; write a filter (WHERE) or a window (GROUP BY window(…))
-- refused: query 'b', line 5, column 61: expected SELECT … FROM … WHERE … GROUP BY … HAVING, but found MATCH_RECOGNIZE; sequences are not supported yet; write a filter (WHERE) or a window (GROUP BY window(…))
CREATE STREAM t (at TIMESTAMP, server STRING, bytes BIGINT, note STRING, ok BOOLEAN) ORDER BY at;
CREATE EVENT a AS SELECT X.at FROM t PARTITION BY server AS (X, *Y) WHERE X.bytes > 1;
CREATE EVENT b AS SELECT * FROM t MATCH_RECOGNIZE (ORDER BY at MEASURES A.at AS x PATTERN (A+) DEFINE A AS bytes > 1);
