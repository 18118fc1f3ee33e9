"""What a service promises: OpenAPI and Swagger documents read into one form."""
