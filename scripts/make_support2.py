"""Write src/aliquot/cohort/embedded/support2.parquet from the package survset 0.2.11.

    python -m venv /tmp/survset && /tmp/survset/bin/pip install survset==0.2.11 pyarrow
    /tmp/survset/bin/python scripts/make_support2.py

survset stores SUPPORT2 without imputation and without indicator columns; numbers carry the rounding of the
original files, and a category that was not recorded is the word "missing", which becomes a missing cell again
here.
"""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
from SurvSet.data import SurvLoader

TARGET_FILE = Path(__file__).parents[1] / "src/aliquot/cohort/embedded/support2.parquet"
TARGET = "died_within_30_days"
DAYS = 30

COLUMNS = {
    "num_age": "age_years",
    "fac_sex": "sex",
    "fac_race": "race",
    "num_edu": "education_years",
    "fac_income": "income",
    "fac_dzgroup": "disease_group",
    "fac_dzclass": "disease_class",
    "num_num_co": "comorbidities",
    "fac_diabetes": "diabetes",
    "fac_dementia": "dementia",
    "fac_ca": "cancer",
    "num_hday": "hospital_day_at_entry",
    "num_scoma": "support_coma_score",
    "num_sps": "support_physiology_score",
    "num_adlp": "daily_living_score_by_patient",
    "num_adls": "daily_living_score_by_surrogate",
    "num_meanbp": "mean_blood_pressure_mmhg",
    "num_hrt": "heart_rate_per_min",
    "num_resp": "respiratory_rate_per_min",
    "num_temp": "temperature_celsius",
    "num_pafi": "pao2_fio2_ratio_mmhg",
    "num_ph": "arterial_ph",
    "num_wblc": "white_cells_1000_per_ul",
    "num_sod": "sodium_mmol_l",
    "num_crea": "creatinine_mg_dl",
    "num_bun": "urea_nitrogen_mg_dl",
    "num_alb": "albumin_g_dl",
    "num_bili": "bilirubin_mg_dl",
    "num_glucose": "glucose_mg_dl",
    "num_urine": "urine_ml_per_day",
}
LEFT_OUT = {
    "pid": "row number",
    "event": "outcome",
    "time": "outcome",
    "fac_sfdm2": "outcome: functional disability two months later",
    "num_surv2m": "prediction of another model",
    "num_surv6m": "prediction of another model",
    "fac_dnr": "care decision made in view of the outcome, partly after entry",
    "fac_num_co": "num_num_co again, as text",
}


def convert(source: pd.DataFrame) -> pd.DataFrame:
    """The features under readable names, then the outcome; every source column is accounted for."""
    unexpected = set(source.columns) ^ {*COLUMNS, *LEFT_OUT}
    if unexpected:
        raise SystemExit(f"survset has other columns than expected: {sorted(unexpected)}")
    table = source[list(COLUMNS)].rename(columns=COLUMNS)
    for name in table.columns[table.dtypes == "category"]:
        table[name] = table[name].cat.remove_categories([c for c in table[name].cat.categories if c == "missing"])
    for name in ("diabetes", "dementia"):
        table[name] = table[name].astype(int) == 1
    table[TARGET] = ((source["event"] == 1) & (source["time"] <= DAYS)).astype("int8")
    return table


def main() -> None:
    """Convert and write."""
    table = convert(SurvLoader().load_dataset(ds_name="support2")["df"])
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    pa.parquet.write_table(arrow, TARGET_FILE, compression="zstd", compression_level=19)
    print(
        f"{TARGET_FILE.name}: {len(table)} rows, {table[TARGET].mean():.1%} positive, "
        f"{TARGET_FILE.stat().st_size} bytes"
    )


if __name__ == "__main__":
    main()
