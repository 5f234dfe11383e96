"""ScienceWorld: science experiments as text, on a pool of Java processes."""
