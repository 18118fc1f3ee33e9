"""Where trained policies are kept: plain signed folders, or MLflow."""
