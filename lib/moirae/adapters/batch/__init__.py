"""What a batch of landing files comes to, wherever it is computed: in this process or in Spark's tasks."""
