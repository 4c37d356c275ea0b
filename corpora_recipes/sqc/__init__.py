"""SQC: Spanish questions classified by the kind of answer that they ask for."""
