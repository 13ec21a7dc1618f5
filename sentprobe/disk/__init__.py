"""Files and folders: atomic writes, locks, temporary files, limits on unpacking."""
