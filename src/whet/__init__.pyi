from whet.bootstrap.executing import Task as Task
from whet.bootstrap.executing import execute_with_learning as execute_with_learning

__version__: str
__all__ = ["Task", "__version__", "execute_with_learning"]
