"""Why a model cannot be loaded."""


class Refusal(Exception):
    """@param reason INVALID_MODEL (another package), INVALID_OPTION (another option) or BACKEND_FAILED (this machine)"""

    def __init__(self, reason, message):
        super().__init__(message)
        self.reason = reason


def invalid_model(message):
    return Refusal("INVALID_MODEL", message)
