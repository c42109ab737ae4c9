"""What the study's page says; what is in braces comes from the rows.

`{p[aloe best, cd best]}` is the p value of these two lines, on each target that has both.
"""

METHODS = {
    "uniform": "any other byte",
    "posmarg": "the byte at the same place of another seed",
    "numbers": "`uniform`, and in half of the mutants numbers are changed as numbers: shifted, "
    "multiplied by powers of two, set to a border, equal ones nearby alike",
    "masked": "a plain predictor of a byte from what is around it",
    "aloe": "an energy of blocks of up to four bytes given what is around them, learned by ALOE",
    "aloe-window": "the paper's energy of a whole window of 64 bytes, learned by ALOE",
    "cd": "the energy of `aloe`, learned by contrastive divergence",
    "ade": "the energy of `aloe`, learned by ADE",
    "learn-and-fuzz": "an LSTM that reads the bytes before",
    "rnn-ebm": "the same LSTM as an energy, so that what comes after counts, too",
    "blind": "no model, only in `adaptive`",
}
MODES = {
    "place": "the byte given its place alone",
    "context": "given all 64 bytes around it",
    "mixed": "given a random share of them",
    "best": "trusts a model by how much of a byte of held-out files it knows, known = 1 - (-log p) "
    "/ log 256, and has mutants of four kinds. known / 2 of them have one edit, and numbers "
    "changed at places where the model is sure. With trust = known^1.5, the model draws the "
    "bytes of trust / 4 as in `mixed`, and of trust / 4 with 100 edits that may leave a "
    "byte as it is; half of these have numbers changed at such places, too. The rest are as "
    "in `numbers`. Where not said, 0.4 or 0.8% / trust of a seed's bytes are edited",
    "paper": "the paper's procedure: 100 bytes drawn one after the other, each given all around it",
    "adaptive": "chooses among laws of bytes, numbers of edits and operators on whole inputs, of "
    "which one changes numbers, by bandits that win with each new edge, and starts from inputs "
    "whose edges are rare. With a model it has its laws beside `uniform` and `posmarg`, and "
    "changes numbers where the model is sure; `blind` does so anywhere",
    "adaptive-relearn": "also learns the model again, after 1,000, 3,000, 10,000, ... inputs, from "
    "the seeds and what had new edges until then",
    "union": "libFuzzer makes half of the inputs and `best` the other half, each from the seeds, "
    "and what they cover is joined",
}
TEXT = """# Which mutants cover most?

Every method gets the same seeds and makes the same number of inputs. A mutator makes mutants of the
seeds alone, unless it is `adaptive`; that, libFuzzer and AFL++ also go on from what they found. An
edge is a place in the control flow of the target; all are counted by our own executor, which counts
as libFuzzer does, with those of the seeds included.

![Edges over inputs](images/fuzz/study.png)

*Mean over the trials, and the middle 80% of them; each method with what was best for it. Below, the
same over the seconds that it took, those to learn its model included, where they are known. Beyond
10,000 inputs there are three to five trials of each line.*

In short: mutators that adapt cover most, and on libpng and mpeg2dec they need no model for it.
Without feedback `best` with a model covers most on libpng and OpenJPEG, on the latter as much as
those that adapt do with 10,000 inputs; which model it has matters little, as long as it knows the
format. On mpeg2dec it is level with random bytes, and behind random bytes and numbers. After
100,000 inputs `adaptive` with ALOE's model covers most on OpenJPEG, in a few trials.

p is Mann and Whitney's, two-sided, and not corrected for how many tests there are; below 0.05 we
say that one is ahead, else that they are not told apart, or level.

## Who draws the bytes, and how

{methods}

A model is used in several modes, of which all but `paper` and a part of `best` never draw the byte
that was there:

{modes}

## With feedback

Mean edges of `adaptive` mutators, libFuzzer and AFL++ in n trials, and p of `aloe` against each.

{adaptive}

After 10,000 inputs and after 100,000 `adaptive` is ahead of libFuzzer and AFL++ on every target.
That is the work of the bandits: after 10,000 inputs `aloe`, `masked` and `blind`, which has no
model and takes the least time, are not told apart on any target, and after 1,000 `blind` is ahead
of both on libpng. On OpenJPEG the mean with `aloe` is the highest; after 100,000 inputs each of its
trials covers more than any of `blind`, but not of `masked`. How much is covered there hangs on code
which opens when numbers in the header change together. `best` with `aloe` is behind `adaptive` with
`aloe`, but for OpenJPEG ({p[aloe adaptive, aloe best]}). After 100,000 inputs each trial of
`adaptive` with `aloe` covers more than each of any mutator without feedback, on every target. How
`adaptive` works was chosen by looking at these same targets, so another one may gain less.

## Without feedback

Mean edges of mutators that learn nothing from the target, `aloe` in `best`, the others in the mode
and with the edits that were best for them, n trials, and p of `aloe` against each.

{blind_against}

The same with all models in `best`:

{best}

On libpng and OpenJPEG `best` with the energy learned by ALOE is ahead of `uniform`, `posmarg`,
`numbers`, `rnn-ebm`, and of `cd`, `ade` and Learn&Fuzz's LSTM in `mixed` and in the paper's way. In
the same recipe `cd`, `masked`, the LSTM and the paper's energy of whole windows, `aloe-window`, are
not told apart from it on any target, and `ade`, which knows little, is behind on libpng and
OpenJPEG. So it is the recipe that is ahead, and not ALOE; `masked`, which takes the least time, is
the default of `aloex fuzz learn`. `rnn-ebm` was tried in `mixed` alone, on a GPU, for it is slow;
there it is level with `aloe` ({p[aloe mixed, rnn-ebm mixed]}). On mpeg2dec, whose stream is
entropy-coded, no model pays: `best` is level with `uniform` with 5% of the bytes edited, and behind
`numbers` with as many.

The recipe of `best` was chosen among some 130 that were tried on these three targets; its rows are
of trials with seeds of randomness that none of them had seen (`--first-trial 600`). Two versions
before it, which were tried with fresh seeds likewise, had not been ahead of `uniform` on OpenJPEG;
so p is a little too good there, and on another target the recipe may gain less.

In the paper's own way, `masked` does badly on libpng, because it knows the seeds by heart and
mostly draws the byte that was there; the energies do not. That they were learned by ALOE is not
what matters there: `cd` is as good. On OpenJPEG and mpeg2dec the paper's way is behind `uniform`.
libFuzzer and AFL++, which change inputs a little at a time, cover less with 10,000 inputs than any
of these at its best. For most lines there is one model for a target, so how much training varies is
not in the errors. It is not little: two models of `cd` on libpng, learned on a GPU and on a CPU,
are further from each other in the paper's way than `cd` is from `aloe`.

## All lines

Each mutator at the number of edits that was best for it, held against the method that is ahead; A12
is the chance that a trial of the line beats one of the first line's.

{tables}

The same for mutators without feedback, after {inputs} inputs.

{blind}

## What the models know

Mean log probability of a byte of the files held out, in nats, at the level of belief in the context
that is best (a guess has -5.545), and the seconds that the model took to learn on an H200; where
there are two of a kind the slower one was learned on one core of a CPU, and so was `aloe-window`.

{models}

Some rows are of models learned before, on a CPU, whose time is not known: {untold}.

## With the time it takes

Seconds to make and run {inputs} inputs, on average, with those to learn the model; the machines of
the rows differ, see `results/fuzz`.

{seconds}

## How many edits

Mean number of edges after {inputs} inputs, by the number of edits of a mutant, or the share of its
bytes. No number is best for all targets.

{sweep}

## Who gets past the door

The share of mutants that get to code which random bytes do not reach.

{passing}

## To repeat it

libpng, OpenJPEG and mpeg2dec come from Debian's sources, with libpng's own PNG files, or files made
by `opj_compress` and `ffmpeg`, as seeds. mpeg2dec is not the library of that name in OSS-Fuzz.

```sh
for t in libpng openjpeg mpeg2dec; do
  aloex fuzz build $t --afl
  for m in {learned}; do
    aloex fuzz learn build/targets/$t/seeds --method $m --out models/$t.$m.safetensors
  done
done
{commands}
python -m studies.fuzz page       # this page, from results/fuzz
```
"""
