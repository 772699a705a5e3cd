"""Optional dependencies: what each extra brings, and one line for who lacks it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from types import MappingProxyType

from .errors import MissingExtraError

# extra in pyproject.toml -> modules that it brings
EXTRAS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "plot": ("matplotlib",),
        "parquet": ("pyarrow",),
        "excel": ("openpyxl",),
        "zstd": ("zstandard",),
        "report": ("jinja2",),
        "h5ad": ("h5py",),
    }
)
# files -> the extra that reads and writes them
FILES: Mapping[str, str] = MappingProxyType({".parquet": "parquet", ".feather": "parquet", ".h5ad": "h5ad"})


def missing_modules(extra: str) -> tuple[str, ...]:
    """Modules of an extra that are not installed; nothing is imported to find out.

    >>> missing_modules("report")
    ()
    """
    return tuple(module for module in EXTRAS[extra] if not _is_there(module))


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ValueError:  # one that was tried, and blocked
        return False


def remedy(extra: str) -> str:
    """What to type."""
    return f"pip install 'isentropic[{extra}]'"


def require_extra(extra: str, who: str) -> None:
    """Raise :class:`MissingExtraError` unless what ``who`` needs is installed."""
    missing = missing_modules(extra)
    if missing:
        modules = f"{' and '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed"
        raise MissingExtraError(f"{who} needs {modules}. Install it with: {remedy(extra)}")


def require_file_extra(name: str) -> None:
    """Raise :class:`MissingExtraError` unless what a file of this name needs is installed."""
    suffix = name[name.rfind(".") :].lower() if "." in name else ""
    if suffix in FILES:
        require_extra(FILES[suffix], f"A {'Parquet' if suffix == '.parquet' else suffix} file")
