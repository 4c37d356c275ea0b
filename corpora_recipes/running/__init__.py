"""Execution of commands: errors, exit codes, processes, output files; not their content."""
