"""SQC: Spanish questions classified by the type of the expected answer."""
