#!/usr/bin/env bash
# The embedded model v0.7.0 from v0.6.0. Usage: SHARED=... training/recipe.sh, in a virtual environment with requirements.txt.
# Can be stopped at any time and called again: each step goes on from what it has.
set -euo pipefail
cd "$(dirname "$0")/.."
out=training/out
export OMP_WAIT_POLICY=PASSIVE MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=8000000000 MALLOC_TOP_PAD_=500000000 MALLOC_ARENA_MAX=1

# sets of ten kinds that no training sees: what the card reports on them says whether the model decides or knows its sets
kept=uci_sentences,surge_toxicity,newsgroups20,fever_symmetric,sharc_rules,rotbench_tools,politeness,covid_qa_en,graded_short_answers,xsid_intents

# factors of single sets: more of decks and entailment, less of templates and of what is at 90 % already
times="decks=19 decks-new=50 snli=14 mnli_taxinli=16 cad_nli=8 infotabs=1.5 fool_me_twice=1.5 banking77=6 hans_templates=0.4 blimp_grammar=0.3
babi_facts=0.6 language_id=0.4 translation_match=1.0 numersense=0.5 jcommonsenseqa=0.8 korean_hate=0.8 afrisenti=0.4 wisesight_th=0.7
csqa2=0.5 clickbait=0.5 med_monotonicity=0.5 help_monotonicity=0.5 clcd_en=0.5 clcd_pt=0.5 hatecheck=0.7 sgd_slots=0.5
sgd_statements=0.5 sgd_intent=0.5 snips=0.5 clinc150=0.7 metatool=0.7 indonli=2 smsa_id=1.5 emot_id=1.5 absa_id=1.5 sib200_topics=2
xquad=2 xcopa=1.5 stsb_multi=1.5 squad_it=1.5 klue_nli_ko=2 jnli_ja=2 germeval2018=1.5 told_br=1.5 xed_emotions=1.5 farstail_fa=1.5"

if [[ ! -d $out/part ]]; then
  mkdir -p $out/raw $out/raw2 $out/many
  tar xf "$SHARED/data/train.tar.xz" -C $out/raw
  tar xf "$SHARED/data/train-2.tar.xz" -C $out/raw2
  xz -dc "$SHARED/data/dev.jsonl.xz" > $out/raw/dev.jsonl
  xz -dc "$SHARED/data/dev-2.jsonl.xz" > $out/raw2/dev.jsonl
  python training/split_decks.py $out/decks decks training/decks/*[^56].deck
  python training/split_decks.py $out/decks-new decks-new training/decks/*-[56].deck
  for set in snli mnli_taxinli cad_nli banking77 infotabs; do ln -sf "$PWD/$out/raw/train/$set.jsonl" $out/many/; done
  ln -sf "$PWD/$out/raw2/train/fool_me_twice.jsonl" $out/many/
  python training/subset.py $out/part.new 25000 --without $kept $out/raw/train $out/raw2/train
  python training/subset.py $out/part.new 60000 $out/many
  cp $out/decks/train/decks.jsonl $out/decks-new/train/decks-new.jsonl $out/part.new/
  mv $out/part.new $out/part
fi

prepare() { # folder, sources
  [[ -f $out/$1/0.shard ]] || python training/prepare.py --tokenizer model/tokenizer.json --out "$out/$1" "${@:2}"
}

[[ -f $out/v0.6.0.safetensors ]] || git show ca70390:model/model.safetensors > $out/v0.6.0.safetensors

prepare all $out/part
train() { # folder, first weights, minutes of processor time, shares over which the rate falls and rises, seed
  # shellcheck disable=SC2086
  nice python training/train.py --data $out/all/0.shard --init "$out/$2" --out "$out/$1" --no-first-figures --minutes 600 \
    --total-minutes "$3" --cooldown "$4" --warmup "$5" --budget 4096 --chunk 2048 --rate 2e-4 --average 0.998 --freeze-words --power 0.4 \
    --thrift 0.5 --strength 0.4 --limits 448 256 96 --longest-row 1100 --most-candidates 20 --together 10 --below 448 --threads 2 \
    --seed "$6" --times $times
}
blend() { # from, to, share of the second, divisor of all scores, folder
  python training/blend.py --from "$out/$1" --to "$out/$2" --share "$3" --soften "$4" --out "$out/$5/model.safetensors"
}

# three runs: the second starts between v0.6.0 and the end of the first, the third from the average of these
train run1 v0.6.0.safetensors 92 0.45 0.02 41
blend v0.6.0.safetensors run1/model.safetensors 0.6 1 middle
train run2 middle/model.safetensors 62 0.6 0.03 43
blend run1/model.safetensors run2/model.safetensors 0.5 1 both
blend v0.6.0.safetensors both/model.safetensors 0.7 1 average
train run3 average/model.safetensors 82 0.5 0.03 47
blend average/model.safetensors run3/model.safetensors 0.5 1.2 blend

for set in dev dev2 decks decks-new; do
  case $set in dev) file=$out/raw/dev.jsonl ;; dev2) file=$out/raw2/dev.jsonl ;; *) file=$out/$set/dev.jsonl ;; esac
  prepare "of-$set" "$file"
done
mkdir -p $out/figures
figures() { # name, set, further options
  python training/evaluate.py --weights $out/blend/model.safetensors --data "$out/of-$2/0.shard" --out "$out/figures/$1.json" "${@:3}"
}
figures before dev
figures unseen dev2 --only $kept
figures second dev2 --without $kept
figures decks decks
figures newer decks-new
