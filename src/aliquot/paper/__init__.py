"""Presets as TOML, and the paper's tables and figures as thin configuration over the library."""
