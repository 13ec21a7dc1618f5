"""The file formats of datasets: reading, writing, and recognition by the content."""
