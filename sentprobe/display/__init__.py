"""Text for the terminal: tables and wrapped lines."""
