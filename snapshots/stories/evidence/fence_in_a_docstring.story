# A docstring's fence is indented like the code around it: the block that holds the file doesn't end
# there, in the user's message and in the model's.

user
| i18n.py
| ```
| def noop(message: str) -> str:
|     """Mark a string as one to translate.
|
|     Example usage:
|     ```python
|     CONSTANTS = [noop('first')]
|     ```
|     """
|     return message
|
|
| def separator() -> str:
|     try:
|         return _SEPARATOR[_CURRENT.locale]
|     except KeyError:
|         return "."
| ```
|
| 1. `separator` should also catch an AttributeError.
model
| 1. It does now:
|
|    i18n.py
|    ```
|    def noop(message: str) -> str:
|        """Mark a string as one to translate.
|
|        Example usage:
|        ```python
|        CONSTANTS = [noop('first')]
|        ```
|        """
|        return message
|
|
|    def separator() -> str:
|        try:
|            return _SEPARATOR[_CURRENT.locale]
|        except (AttributeError, KeyError):
|            return "."
|    ```
