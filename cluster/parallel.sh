#!/bin/bash
# parallel.sh - a suite through GNU parallel, over local GPUs or hosts that ssh reaches.
#
#   GPUS=8 cluster/parallel.sh SHARDS STRATEGY.lua SUITE OUT [flags of cawb bench]
#   HOSTS=hosts.txt cluster/parallel.sh ...      one shard at a time on each host (parallel's
#                                                --sshloginfile); OUT is a folder that all see
#
# With GPUS, each slot of parallel sees one GPU. The shards are merged into OUT when all are
# done; started again, it goes on where it was. CAWB names the program (cawb).
set -eu

if [ $# -lt 4 ]; then
  sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
shards=$1 strategy=$2 suite=$3 out=$4
shift 4
cawb=${CAWB:-cawb}

where=(--jobs "${JOBS:-${GPUS:-1}}")
[ -z "${HOSTS:-}" ] || where=(--jobs 1 --sshloginfile "$HOSTS" --workdir "$PWD")
words=("$cawb" bench "$strategy" "$suite" "$@")
command=$(printf '%q ' "${words[@]}")
[ -z "${GPUS:-}" ] || command="CUDA_VISIBLE_DEVICES=\$(({%} - 1)) $command"

mkdir -p "$out"
parallel --will-cite --line-buffer --tagstring 'shard {}' "${where[@]}" \
  "$command --shard {}/$shards --out $(printf '%q' "$out")/shard-{}" ::: $(seq "$shards")
"$cawb" merge "$out" "$out"/shard-*
