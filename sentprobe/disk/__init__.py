"""Files and folders: atomic writes, locks, temporary folders, safe unpacking."""
