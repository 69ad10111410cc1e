"""What may leave the building: rows, encoder, recipe, metrics, card, croissant and report."""
