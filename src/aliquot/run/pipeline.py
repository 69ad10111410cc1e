"""The pipeline: prepare → condense → score → measure → release.

Every way in goes through it: the command, ``aliquot.condense``, ``aliquot resume``; a grid's cell and the sampler use
its first stages. To add a stage is to write it in ``stages/`` and to name it here.
"""

from aliquot.run.stages.condense import CONDENSE
from aliquot.run.stages.measure import MEASURE
from aliquot.run.stages.prepare import PREPARE
from aliquot.run.stages.release import RELEASE
from aliquot.run.stages.score import SCORE

PIPELINE = (PREPARE, CONDENSE, SCORE, MEASURE, RELEASE)
