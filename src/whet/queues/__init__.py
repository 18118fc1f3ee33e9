"""Training queues beside the store's own: Redis streams and the Kafka protocol."""
