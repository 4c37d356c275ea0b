"""X-Probe: sentences of Wikipedia labelled with their linguistic properties, nine tasks."""
