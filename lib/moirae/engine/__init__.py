"""The one engine: the same functions run rows live, in materialisation, in reprocessing and in process."""
