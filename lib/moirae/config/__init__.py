"""Configuration: frozen models, one loader, a view of what is in force. Only here are YAML and the environment read."""

from moirae.config.load import InvalidConfigError, find_config, load_config
from moirae.config.models import Config, Duration, Secret, Size
from moirae.config.show import Setting, effective, table_rows, to_json

__all__ = [
    "Config",
    "Duration",
    "InvalidConfigError",
    "Secret",
    "Setting",
    "Size",
    "effective",
    "find_config",
    "load_config",
    "table_rows",
    "to_json",
]
