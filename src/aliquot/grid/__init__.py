"""Many runs side by side: cells, the work that they share, and where it is done."""
