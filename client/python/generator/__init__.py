"""What `generate` is made of."""
