"""DVC: the shards of a run, content-addressed; the only file that imports dvc.

One folder, ``runs/<run id>/shards``, is added as a whole, so that ``shards.dvc`` beside it names
every version that git has seen and ``dvc checkout`` brings its bytes back. Most of the cost of
``dvc add`` is starting DVC, hence one repository object kept open for the whole run.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from trajevolve import telemetry
from trajevolve.config import VersioningConfig
from trajevolve.locking import alone_in

log = logging.getLogger(__name__)

# No hard links: a cache that shares the bytes of a shard cannot restore it when they are damaged.
CACHE_LINKS = ["reflink", "copy"]


class Versioner:
    """Adds folders to the DVC project around them.

    Versions are a service to the user, not a part of the method: where DVC cannot do its work the
    run goes on, with a warning that says why.
    """

    def __init__(self, config: VersioningConfig, project: Path) -> None:
        """Keep the settings; DVC is opened at the first :meth:`add`.

        Args:
            config: switch and period.
            project: the folder that holds ``.dvc``; made without git where there is none.
        """
        self._every = config.every
        self._enabled = config.enabled
        self._project = project.resolve()
        self._repo: Any = None

    def due(self, iteration: int) -> bool:
        """Say whether `iteration` (from 0) ends a period."""
        return self._enabled and (iteration + 1) % self._every == 0

    def add(self, folder: Path) -> str | None:
        """Put the present content of `folder` into the cache.

        Returns:
            DVC's md5 of the folder, None where versioning is off or failed.
        """
        if not self._enabled or not folder.is_dir():
            return None
        try:
            # DVC itself waits some seconds for another run's `add`, then gives up.
            with alone_in(self._project):
                (stage,) = self._open().add([str(folder.resolve())])
            return str(stage.outs[0].hash_info.value)
        # DVC raises its own hierarchy, dvc-data's and plain OSErrors; none of them concerns the
        # method.
        except Exception as error:
            log.warning("%s: not versioned: %s", folder, " ".join(str(error).split()))
            return None

    def close(self) -> None:
        """Close the repository. Idempotent."""
        if self._repo is not None:
            self._repo.close()
            self._repo = None

    def _open(self) -> Any:
        if self._repo is None:
            telemetry.switch_off()
            from dvc.repo import Repo

            logging.getLogger("dvc").setLevel(logging.WARNING)

            if not (self._project / ".dvc").is_dir():
                log.info("%s: no DVC project; making one without git", self._project)
                _initialise(Repo, self._project)
            self._repo = Repo(str(self._project))
        return self._repo


def _initialise(repository: Any, project: Path) -> None:
    with repository.init(str(project), no_scm=True) as repo, repo.config.edit("repo") as settings:
        settings["core"]["analytics"] = False
        settings["cache"]["type"] = CACHE_LINKS
