"""XNLI and esXNLI: premises with hypotheses that follow from them, contradict them or neither."""
