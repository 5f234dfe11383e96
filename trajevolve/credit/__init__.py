"""Credit: hindsight verification of successes, and the discriminator for failures."""
