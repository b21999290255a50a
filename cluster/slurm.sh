#!/bin/bash
# slurm.sh - a suite as a job array of Slurm: every array task does one shard, on a GPU of its own.
#
#   sbatch --array=1-16 --gpus=1 --requeue cluster/slurm.sh STRATEGY.lua SUITE OUT [flags of cawb bench]
#   cawb merge OUT OUT/shard-*        when they are done
#
# A task that is preempted, killed or requeued goes on where it was. OUT is a folder that all
# nodes see; each shard has a store of its own in it. CAWB names the program (cawb).
#SBATCH --job-name=cawb
#SBATCH --open-mode=append
set -eu

if [ $# -lt 3 ] || [ -z "${SLURM_ARRAY_TASK_ID:-}" ]; then
  sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
strategy=$1 suite=$2 out=$3
shift 3
shard=$((SLURM_ARRAY_TASK_ID - SLURM_ARRAY_TASK_MIN + 1))
# Slurm shows a task only the GPUs that it gave it, the first of which is cuda:0.
exec "${CAWB:-cawb}" bench "$strategy" "$suite" --shard "$shard/$SLURM_ARRAY_TASK_COUNT" \
  --out "$out/shard-$shard" "$@"
