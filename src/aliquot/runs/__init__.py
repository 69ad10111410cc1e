"""Runs: settings, the whole way through the house, the run folder, and continuing after a stop."""
