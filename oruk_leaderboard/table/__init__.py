"""The table: records, their schemas, the configs made from them, how it is shown."""
