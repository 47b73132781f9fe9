"""Schema changes, one file each; a file that was released is never edited."""
