-- refused: line 7, column 8: expected a statement of this version, but found 'CONTEXT'; contexts are not supported yet; leave the statement out for now
-- refused: line 8, column 8: expected a statement of this version, but found 'SURROUNDING'; surroundings are not supported yet; leave the statement out for now
-- refused: line 9, column 8: expected a statement of this version, but found 'SIMILAR'; similar events are not supported yet; leave the statement out for now
-- refused: line 10, column 8: expected a statement of this version, but found 'ALERT'; alerts are not supported yet; leave the statement out for now
-- refused: line 11, column 1: expected a statement of this version, but found 'ARCHIVE'; what recalls need is kept without asking; leave the statement out for now
-- refused: line 12, column 1: expected a statement of this version, but found 'AGGREGATE'; aggregates written in SQL are not supported yet; leave the statement out for now
CREATE CONTEXT c FOR e x AS SELECT 1;
CREATE SURROUNDING c FOR e x AS SELECT 1;
CREATE SIMILAR s FOR e TOP 5;
CREATE ALERT a AS SELECT 1;
ARCHIVE t;
AGGREGATE f(x): INT { }
