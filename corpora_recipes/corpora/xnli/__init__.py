"""XNLI and esXNLI: premises with hypotheses, labelled with entailment, neutral, contradiction."""
