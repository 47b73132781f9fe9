-- refused: query 'a b', line 4, column 15: expected a name of letters, digits and _, beginning with a letter, but found 'a b'; choose a simpler name
-- refused: query 'a b', line 4, column 22: expected a name of letters, digits and _, but found 'x y'; choose a simpler name
-- refused: query '../up', line 5, column 15: expected a name of letters, digits and _, beginning with a letter, but found '../up'; choose a simpler name
CREATE STREAM `a b` (`x y` INT, at TIMESTAMP) ORDER BY at;
CREATE STREAM `../up` (at TIMESTAMP) ORDER BY at;
