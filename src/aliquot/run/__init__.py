"""One run: what is asked, the pipeline of stages, its folder, its store and its progress."""
