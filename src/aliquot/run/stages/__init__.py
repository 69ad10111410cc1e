"""The stages of the pipeline, one file each."""
