"""The command line: thin commands over the ports and adapters, each one small file a group."""
