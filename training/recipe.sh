#!/usr/bin/env bash
# The embedded model v0.8.1 from v0.7.0: the layers of v0.8.0, then more word pieces without training. Usage: SHARED=... training/recipe.sh, in a virtual environment with requirements.txt.
# Needs a GPU: three runs of eight minutes side by side on an NVIDIA H100 with 16 cores. Begin without files of another recipe in
# training/out. Called again, it does not repeat preparations and training runs that were finished. The result differs a little
# from the released weights: a GPU does not give the same bits twice, and other states were chosen from the large sets (and for
# the 7,000 unseen decisions of the card).
set -euo pipefail
SHARED=$(realpath "$SHARED")
cd "$(dirname "$0")/.."
out=training/out

# sets of ten kinds that no training sees: what the card reports on them says whether the model decides or knows its sets
kept=uci_sentences,surge_toxicity,newsgroups20,fever_symmetric,sharc_rules,rotbench_tools,politeness,covid_qa_en,graded_short_answers,xsid_intents

# factors of single sets beside the decks: more entailment, less of templates and of what is at 90 % already
times="snli=14 mnli_taxinli=16 cad_nli=8 infotabs=1.5 fool_me_twice=1.5 banking77=6 hans_templates=0.4 blimp_grammar=0.3
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
  python training/split_decks.py $out/decks decks training/decks/*[^567].deck
  python training/split_decks.py $out/decks-new decks-new training/decks/*-[56].deck
  ln -sf "$PWD/$out/raw/train/infotabs.jsonl" $out/many/
  python training/subset.py $out/part.new 26000 --without $kept $out/raw/train $out/raw2/train
  python training/subset.py $out/part.new 60000 $out/many
  cp $out/decks/train/decks.jsonl $out/decks-new/train/decks-new.jsonl $out/part.new/
  mv $out/part.new $out/part
fi

if [[ ! -f $out/tokenizer.json ]]; then # that of v0.7.0 and v0.8.0
  git show 293dc11:model/tokenizer.json > $out/tokenizer.new
  mv $out/tokenizer.new $out/tokenizer.json
fi
prepare() { # folder, sources
  [[ -f $out/$1/0.shard ]] || python training/prepare.py --tokenizer $out/tokenizer.json --out "$out/$1" "${@:2}"
}

prepare all $out/part
if [[ ! -f $out/start.safetensors ]]; then # v0.7.0 with the rows of its matrices rounded to 255 levels
  git show 293dc11:model/model.safetensors > $out/v0.7.0.safetensors
  PYTHONPATH=training python -c 'import sys, snap, weights
levels = lambda t: snap.rows(t.double())[0] * snap.rows(t.double())[1][:, None]
weights.save({name: levels(t) if t.ndim == 2 else t for name, t in weights.load(sys.argv[1]).items()}, sys.argv[2])' \
    $out/v0.7.0.safetensors $out/start.new
  mv $out/start.new $out/start.safetensors
fi

python -c 'import torch; assert torch.cuda.is_available(), "PyTorch sees no GPU"'
train() { # folder, rate, dropout, strength of the augmentation, factors of the decks and of the newer ones, power of the sizes, seed
  [[ ! -f $out/$1/done ]] || return 0
  # shellcheck disable=SC2086
  python training/train.py --data $out/all/0.shard --init $out/start.safetensors --out "$out/$1" --minutes 7.8 --total-minutes 7.8 \
    --cooldown 0.5 --warmup 0.02 --budget 65536 --chunk 8192 --workers 4 --rate "$2" --dropout "$3" --strength "$4" --average 0.998 \
    --freeze-words --power "$7" --thrift 0.3 --limits 768 256 128 --longest-row 1400 --most-candidates 32 --together 12 --below 512 \
    --save-every 60 --seed "$8" --times decks="$5" decks-new="$6" $times > "$out/$1.log" 2>&1
  touch "$out/$1/done"
}
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
train a 2e-4 0.0 0.6 12 30 0.4 41 & runs=($!)
train b 4e-4 0.1 1.0 7 20 0.4 43 & runs+=($!)
train c 8e-4 0.1 0.7 7 20 0.5 47 & runs+=($!)
for run in "${runs[@]}"; do wait "$run" || { echo "a run failed: see $out/{a,b,c}.log" >&2; exit 1; }; done

blend() { # from, to, share of the second, divisor of all scores, folder
  python training/blend.py --from "$out/$1" --to "$out/$2" --share "$3" --soften "$4" --out "$out/$5/model.safetensors"
}

# 0.1 of the start, of a and of c each, 0.7 of b; all scores divided by 2
blend start.safetensors a/model.safetensors 0.5 1 two
blend two/model.safetensors c/model.safetensors 0.3333333 1 three
blend three/model.safetensors b/model.safetensors 0.7 2 blend

python training/export.py --weights $out/blend/model.safetensors --tokenizer $out/tokenizer.json --out $out/package \
  --name typed-decisions/Twig-32M --alias twig --version v0.8.0 --date 2026-11-28 \
  --description '32.5M-parameter token-tree encoder for typed decisions in English and, with less certainty, other languages'

# v0.8.1: the rules of text_rules.py and the pieces that they need. The figures below are of v0.8.0: the tokens of most texts are equal
python training/vocabulary.py --tokenizer $out/tokenizer.json --weights $out/package/model.safetensors --glossary training/glossary/*.tsv --out $out/words
python training/export.py --weights $out/words/model.safetensors --tokenizer $out/words/tokenizer.json --out $out/package-0.8.1 \
  --name typed-decisions/Twig-32M --alias twig --version v0.8.1 --date 2026-11-28 \
  --description '36.1M-parameter token-tree encoder for typed decisions in English and, with less certainty, other languages'

# v0.9.0: 0.2 of v0.8.1 and 0.8 of what `TOTAL=54 training/next.sh` makes of it (24,000 decisions); all scores divided by 1.1
[[ -f training/out/next/run/model.safetensors ]] || START=$out/package-0.8.1/model.safetensors TOTAL=54 MINUTES=120 training/next.sh
python training/blend.py --from $out/package-0.8.1/model.safetensors --to training/out/next/run/model.safetensors --share 0.8 --soften 1.1 \
  --out $out/next-blend/model.safetensors
python training/export.py --weights $out/next-blend/model.safetensors --tokenizer $out/words/tokenizer.json --out $out/package-0.9.0 \
  --name typed-decisions/Twig-32M --alias twig --version v0.9.0 --date 2026-11-29 \
  --description '36.1M-parameter token-tree encoder for typed decisions in English and, with less certainty, other languages'

mkdir -p $out/kept
for set in ${kept//,/ }; do ln -sf "$PWD/$out/raw2/train/$set.jsonl" $out/kept/; done
[[ -d $out/more ]] || { python training/subset.py $out/more.new 700 $out/kept && mv $out/more.new $out/more; }
for set in dev dev2 decks decks-new more; do
  case $set in dev) file=$out/raw/dev.jsonl ;; dev2) file=$out/raw2/dev.jsonl ;; more) file=$out/more ;; *) file=$out/$set/dev.jsonl ;; esac
  prepare "of-$set" "$file"
done
mkdir -p $out/figures $out/figures-before
figures() { # name, set, further options
  for pair in $out/package/model.safetensors:figures $out/v0.7.0.safetensors:figures-before; do
    python training/evaluate.py --weights "${pair%:*}" --data "$out/of-$2/0.shard" --out "$out/${pair#*:}/$1.json" "${@:3}"
  done
}
figures more more
figures unseen dev2 --only $kept
figures first dev
figures second dev2 --without $kept
figures decks decks
figures newer decks-new
part() { echo "$2=$out/figures/$1.json,$out/figures-before/$1.json"; } # name, title
python training/card.py --package $out/package --notes training/card-notes.md --data "$SHARED"/data/MANIFEST.json "$SHARED"/data/MANIFEST-2.json \
  --part "$(part more 'Ten unseen sets: 7,000 decisions (kinds of questions that the model was not trained on)')" \
  --part "$(part unseen 'Ten unseen sets: 1,487 further decisions')" --part "$(part first 'First corpus')" \
  --part "$(part second 'Second corpus')" --part "$(part decks 'Decks: held-out states')" --part "$(part newer 'Newer decks: held-out states')"
