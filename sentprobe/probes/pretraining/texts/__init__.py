"""Files of anybody's, read to texts that an encoder learns from."""
