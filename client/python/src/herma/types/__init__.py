"""The shapes of params and results, one module for each resource.

They are plain dicts at run time. ``NotRequired`` fields may be absent, those with
``None`` null; a newer daemon may send more. The result of ``memory.list`` is a
``MemoryList``.

Made by `generate` out of protocol/schema.json, but for `base`.
"""

from .base import *
from .constraint import *
from .context import *
from .daemon import *
from .files import *
from .guard import *
from .ledger import *
from .memory import *
from .output import *
from .profile import *
from .recall import *
from .session import *
from .shared import *
from .trajectory import *
