"""What all packages use: errors, files, processes, terminal output, values and encoder specs."""
