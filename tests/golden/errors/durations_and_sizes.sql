-- refused: query 't', line 7, column 53: expected a duration, but found '5 parsecs'; write a number and a unit, such as '5 minutes' or '30 days'
-- refused: query 't', line 7, column 75: expected a duration, but found '-1 day'; write a number and a unit, such as '5 minutes' or '30 days'
-- refused: query 't', line 8, column 20: expected a size, but found '12'; write a number and a unit, such as '128 MiB'
-- refused: query 't', line 8, column 38: expected a duration, but found '5'; write a number and a unit, such as '5 minutes' or '30 days'
-- refused: query 't', line 8, column 57: expected a whole number above zero, but found 'many'; write a number such as 8
-- refused: query 't', line 8, column 77: expected a duration above zero that fits, but found '0 days'; write a number and a unit, such as '5 minutes' or '30 days'
CREATE STREAM t (at TIMESTAMP) ORDER BY at LATENESS '5 parsecs' VALID FOR '-1 day'
WITH (chunk_size = '12', chunk_age = 5, recent_chunks = 'many', retention = '0 days');
