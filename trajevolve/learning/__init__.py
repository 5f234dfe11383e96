"""The policy update: sequences, batches, loss, learner and checkpoints."""
