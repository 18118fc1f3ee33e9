"""A small garden shop."""
