"""Tables and figures of finished or running runs."""
