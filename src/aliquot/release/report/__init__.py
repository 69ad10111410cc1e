"""One self-contained page about a condensation, and a short summary for notebooks.

The page is a list of sections, found in ``sections``, below scores and checks. Everything on the page comes from the
release, so that ``aliquot report`` can write it again.
"""

from importlib.resources import files
from typing import Any

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PackageLoader, PrefixLoader, StrictUndefined
from markupsafe import Markup

from aliquot.release.condensation import Condensation
from aliquot.release.report import facts, sections
from aliquot.release.report.dots import held_out_figure
from aliquot.release.report.section import Check, Section

NO_FORMAL_GUARANTEE = (
    "No formal privacy guarantee, no differential privacy; no attack was tried. "
    "Treat the bundle as derived from patient data."
)


def report(result: Condensation) -> str:
    """The report: one HTML file that loads nothing from elsewhere."""
    shown = [section for section in sections.all_sections() if section.is_there(result.results)]
    templates = environment()
    return templates.get_template("page.html").render(
        **_headline(result),
        verdict=facts.verdict(result),
        kind=facts.kind(result).lower(),
        score_figures=[held_out_figure(result.results.held_out, metric) for metric in ("auprc", "auroc")],
        checks=checks(result),
        titles={section.key: section.title for section in shown},
        bodies={section.key: _body(section, result, templates) for section in shown},
        version=facts.aliquot_version(result.results),
        document=result.metrics,
    )


def checks(result: Condensation) -> list[Check]:
    """What a custodian asks first, of the whole and of every section; what must be heeded comes before what is fine."""
    found = [Check("Is there a guarantee?", NO_FORMAL_GUARANTEE, heed=True, order=20)]
    if not facts.better_than_random(result.results):
        found.append(Check("Was it worth it?", facts.NOT_BETTER, heed=True, order=30))
    for section in sections.all_sections():
        found += section.checks(result)
    return sorted(found, key=lambda check: (not check.loud, not check.heed, check.order))


def _body(section: Section[Any], result: Condensation, templates: Environment) -> Markup:
    """The section without its heading."""
    template = templates.get_template(f"sections/{section.key}.html")
    return Markup(template.render(result=result, results=result.results, **section.content(result)))


def summary_html(result: Condensation) -> str:
    """A short fragment for notebooks: the headline numbers and the first rows in the source's units."""
    rows = result.readable.head().to_html(index=False, border=0, max_cols=12, float_format="{:g}".format)
    shown = {"origin": facts.origin(result), "real": facts.uses_real_rows(result), "rows": rows}
    return environment().get_template("summary.html").render(**_headline(result), **shown)


def _headline(result: Condensation) -> dict[str, Any]:
    """What page and summary begin with."""
    return {
        "result": result,
        "results": result.results,
        "title": facts.title(result),
        "compression": facts.compression(result),
        "headline": facts.headline(result),
    }


def environment() -> Environment:
    """Templates of this folder and of the sections, every text escaped."""
    own = PackageLoader(__name__, "")
    found = Environment(
        loader=ChoiceLoader([PrefixLoader({"sections": FileSystemLoader(list(sections.__path__))}), own]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.policies["json.dumps_kwargs"] = {"allow_nan": False}
    found.filters["total"] = facts.total
    found.globals["css"] = files(__name__).joinpath("style.css").read_text("utf-8")
    return found
