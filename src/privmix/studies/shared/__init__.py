"""What several studies share: targets, measures of a fit, and pieces of pictures."""
