"""The settings have defaults that work together."""

from ghp_agents.settings.settings import Settings, Thresholds


def test_without_configuration_agents_are_stale_after_ten_minutes_dead_after_thirty() -> None:
    assert Settings().thresholds == Thresholds(10 * 60.0, 30 * 60.0, 24 * 3600.0)


def test_the_thresholds_are_the_settings_of_the_same_names() -> None:
    settings = Settings(stale_after=1.0, dead_after=2.0, gone_after=3.0)
    assert settings.thresholds == Thresholds(1.0, 2.0, 3.0)
