"""What a user's module consists of: its own file, the local modules it imports, and the files that it declares."""

import ast
import hashlib
import importlib.util
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from oruk_leaderboard.errors import OrukError

_FOREIGN = tuple(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib"))
_OWN = Path(__file__).resolve().parents[1]


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def module_files(module: ModuleType) -> dict[str, str]:
    """Path to digest of a module's source, of the local modules it imports, and of its ``FILES``.

    Local means outside the standard library, installed packages and this package. Imports are found in the source, also
    those inside functions.

    Raises:
        OrukError: A declared file does not exist.
    """
    source = getattr(module, "__file__", None)
    if source is None:
        return {}
    start = Path(source).resolve()
    root = start.parents[module.__name__.count(".")]
    seen: dict[str, Path] = {}
    waiting = [(module.__name__, start)]
    while waiting:
        name, path = waiting.pop()
        key = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
        if key not in seen:
            seen[key] = path
            waiting += list(_imports(name, path))
    for declared in getattr(module, "FILES", ()):
        path = (start.parent / declared).resolve()
        if not path.is_file():
            raise OrukError("a file that the module declares is missing", where=f"{start} FILES", found=str(declared))
        seen[str(declared)] = path
    return {key: sha256_of(path) for key, path in sorted(seen.items())}


def _imports(name: str, path: Path) -> Iterator[tuple[str, Path]]:
    if path.suffix != ".py":
        return
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_bytes())):
        wanted: list[str] = []
        if isinstance(node, ast.Import):
            wanted = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            wanted = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        for module in filter(None, wanted):
            if (found := _local(module)) is not None:
                yield module, found


def _local(module: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError, AttributeError):
        return None
    if spec is None or not spec.has_location or spec.origin is None:
        return None
    path = Path(spec.origin).resolve()
    foreign = "site-packages" in path.parts or path.is_relative_to(_OWN) or any(map(path.is_relative_to, _FOREIGN))
    return None if foreign else path
