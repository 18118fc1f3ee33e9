"""The specialists: one file each, all of one form. They do not know each other."""
