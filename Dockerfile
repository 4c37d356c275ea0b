# Probeta in a container: docker build -t probeta . && docker run --rm -v "$PWD:/work" probeta repro
FROM python:3.14-slim

RUN pip install --no-cache-dir uv==0.13.9
WORKDIR /probeta
# Only what is installed; the versions are those of the lock.
COPY pyproject.toml uv.lock README.md LICENSE params.yaml ./
COPY corpora_recipes corpora_recipes
COPY builders builders
COPY evaluation evaluation
COPY probeta probeta
RUN uv sync --locked --no-dev --extra repro --no-cache --no-editable --compile-bytecode
WORKDIR /work
ENTRYPOINT ["/probeta/.venv/bin/probeta"]
