"""One encoder scored on some datasets: the function ``score`` and the verb of that name."""
