"""The one exception that means "the user can fix this".

The command line prints its text as a single line and exits with status 2; everything else is a
defect of the program and keeps its traceback.
"""


class UserError(Exception):
    """A mistake in the input: the text says what, where, what was expected and what to do."""
