"""What a test of a service found, in every form: one model, one function per form, nothing secret in any."""
