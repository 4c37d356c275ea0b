"""From a raw corpus to records: fetch the files, read them, clean them, count every drop."""
