"""Results that other tools left: JUnit XML, Allure, Qase, pytest's cache, read into sheets."""

from whet.tools.results.read import Reading, Refusal, read_results
from whet.tools.results.reported import NameOf, Reported

__all__ = ["NameOf", "Reading", "Refusal", "Reported", "read_results"]
