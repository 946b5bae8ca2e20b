"""Steps that several samplers share."""
