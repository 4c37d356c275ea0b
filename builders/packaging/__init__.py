"""The stages `package` and `publish`: all instances to one folder and to the Hub."""
