"""The compose file and the Kubernetes manifests, against their schemas and against each other."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

jsonschema = pytest.importorskip("jsonschema")

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DEPLOY = ROOT / "server_bundle" / "deploy"
KUBERNETES = json.loads((HERE / "kubernetes-1.36.json").read_text())


def manifests() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted((DEPLOY / "kubernetes").glob("*.yaml")):
        for document in yaml.safe_load_all(path.read_text()):
            yield path.name, document


MANIFESTS = {document["kind"]: document for _, document in manifests()}


def errors(document: dict[str, Any]) -> list[str]:
    schema = {**KUBERNETES["kinds"][document["kind"]], "$defs": KUBERNETES["$defs"]}
    validator = jsonschema.Draft7Validator(schema)
    return [f"{each.json_path}: {each.message}" for each in validator.iter_errors(document)]


@pytest.mark.parametrize("name", [name for name, _ in manifests()])
def test_each_manifest_is_of_its_kind(name: str) -> None:
    for found, document in manifests():
        if found == name:
            assert errors(document) == []


def test_the_schema_would_find_mistakes() -> None:
    wrong = copy.deepcopy(MANIFESTS["Deployment"])
    container = wrong["spec"]["template"]["spec"]["containers"][0]
    container["readinessProbe"]["httpGet"]["prot"] = 1
    container["ports"][0]["containerPort"] = "http"
    found = errors(wrong)
    assert any("prot" in each for each in found)
    assert any("containerPort" in each for each in found)


def test_they_fit_together() -> None:
    deployment, service = MANIFESTS["Deployment"], MANIFESTS["Service"]
    scaler, claim = MANIFESTS["HorizontalPodAutoscaler"], MANIFESTS["PersistentVolumeClaim"]
    pod = deployment["spec"]["template"]
    labels = pod["metadata"]["labels"]
    assert deployment["spec"]["selector"]["matchLabels"].items() <= labels.items()
    assert service["spec"]["selector"].items() <= labels.items()
    (container,) = pod["spec"]["containers"]
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    assert ports == {"http": 8000, "grpc": 8001, "metrics": 8002}
    assert {each["targetPort"] for each in service["spec"]["ports"]} == set(ports)
    assert container["readinessProbe"]["httpGet"] == {"path": "/v2/health/ready", "port": "http"}
    assert container["resources"]["limits"]["nvidia.com/gpu"] == "1"
    mounts = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
    assert mounts.keys() == {each["name"] for each in pod["spec"]["volumes"]}
    assert mounts["weights"] == "/weights"
    names = [v.get("persistentVolumeClaim", {}).get("claimName") for v in pod["spec"]["volumes"]]
    assert claim["metadata"]["name"] in names
    target = scaler["spec"]["scaleTargetRef"]
    assert (target["kind"], target["name"]) == ("Deployment", deployment["metadata"]["name"])
    # An autoscaler's number and the deployment's own would fight.
    assert "replicas" not in deployment["spec"]


def test_every_metric_that_is_scaled_on_is_made() -> None:
    adapter = yaml.safe_load((DEPLOY / "prometheus-adapter.yaml").read_text())
    made = {rule["name"]["as"]: rule for rule in adapter["rules"]["custom"]}
    asked = {
        each["pods"]["metric"]["name"]
        for each in MANIFESTS["HorizontalPodAutoscaler"]["spec"]["metrics"]
    }
    assert asked == set(made)
    queue = made["triton_queue_microseconds_per_request"]["metricsQuery"]
    assert "nv_inference_queue_duration_us" in queue


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return found


def test_compose_file() -> None:
    schema = json.loads((HERE / "compose-spec.json").read_text())
    validator = jsonschema.Draft7Validator(schema)
    assert list(validator.iter_errors(compose())) == []
    wrong = compose()
    wrong["services"]["cpu"]["memlimit"] = "1g"
    (error,) = validator.iter_errors(wrong)
    assert "memlimit" in error.message


def test_compose_services() -> None:
    services = compose()["services"]
    dockerfile = (ROOT / "server_bundle" / "docker" / "Dockerfile").read_text()
    for name, service in services.items():
        assert service["profiles"] == [name]
        assert f" AS {service['build']['target']}\n" in dockerfile
        assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        for mount in service["volumes"]:
            source = mount["source"].rpartition(":-")[2].rstrip("}")
            assert (DEPLOY / source).is_dir()
            assert mount["read_only"] is True
        assert all("127.0.0.1" in port for port in service["ports"])
    (device,) = services["gpu"]["deploy"]["resources"]["reservations"]["devices"]
    assert device["capabilities"] == ["gpu"]
