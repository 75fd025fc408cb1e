"""Files of addresses: reading tables, resumable runs over them, writing results."""
