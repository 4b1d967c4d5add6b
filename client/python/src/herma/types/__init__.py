"""The shapes of params and results, one module for each resource.

They are plain dicts at run time. ``NotRequired`` fields may be absent,
``Optional`` ones null; a newer daemon may send more. Lengths are chars, times
Unix seconds.
"""

from .base import *
from .compress import *
from .context import *
from .daemon import *
from .memory import *
from .output import *
from .recall import *
from .session import *
from .trajectory import *
