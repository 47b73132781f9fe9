"""Functions over whole columns: Arrow arrays (or constants) in, one Arrow array out.

Arguments have exactly the types of the function's rule. At least one argument that is not a declared constant is an
array; the others may be Arrow scalars. Nothing here raises for any value of a row.
"""
