#!/usr/bin/env bash
# Trains the deeper model (12 layers of 384, from an encoder converted by from_minilm.py) on a GPU that nothing else
# reaches. Usage: training/deeper.sh START_PARTS OUT_PARTS MINUTES SHARD... [-- further options of train.py]
# Both folders hold weights as parts.py splits them. See "The deeper model" in README.md.
set -euo pipefail
start=$1 out=$2 minutes=$3; shift 3
shards=(); while [[ $# -gt 0 && $1 != -- ]]; do shards+=("$1"); shift; done; shift || true
work=$(mktemp -d); here=$(dirname "$0")
python3 "$here/parts.py" join "$start" "$work/start.safetensors"
python3 "$here/train.py" --data "${shards[@]}" --init "$work/start.safetensors" --out "$work" --minutes "$minutes" \
  --total-minutes "$minutes" --cooldown 0.5 --warmup 0.03 --budget 65536 --chunk 8192 --workers 12 --rate 4e-4 \
  --dropout 0.1 --strength 0.8 --average 0.998 --power 0.3 --thrift 0.3 --limits 768 256 128 --longest-row 1400 \
  --most-candidates 32 --together 12 --below 512 --save-every 2 --seed 41 "$@"
python3 "$here/parts.py" split "$work/model.safetensors" "$out"
cp "$work/log.jsonl" "$out/log.jsonl"
