/** A scenario with several seeds: what of its results is chance. */
import { OptionError } from '@shardlab/cluster'
import type { ScenarioFile } from '../file/parse.js'

const seedsMax = 1000
const seedMax = 2 ** 32 - 1

/** Parses `seed=1..20` and `seed=1,5,9`. @throws OptionError */
export function parseSeedSweep(text: string): number[] {
  const match = /^seed=(?:(\d{1,10})\.\.(\d{1,10})|(\d{1,10}(?:,\d{1,10})*))$/.exec(text.replace(/\s/g, ''))
  if (match === null) throw new OptionError(`sweep is "${text}": write it as in "seed=1..20" or "seed=1,5,9"`)
  const [, from, to, list] = match
  const count = list === undefined ? Number(to) - Number(from) + 1 : list.split(',').length
  if (count < 1) throw new OptionError(`sweep is "${text}": the first seed must not exceed the last one`)
  if (count > seedsMax) throw new OptionError(`sweep is "${text}": it must have at most ${seedsMax} seeds`)
  const seeds =
    list === undefined ? Array.from({ length: count }, (_, i) => Number(from) + i) : list.split(',').map(Number)
  if (seeds.some((seed) => seed > seedMax)) throw new OptionError(`sweep is "${text}": seeds are at most ${seedMax}`)
  if (new Set(seeds).size < count) throw new OptionError(`sweep is "${text}": it names a seed twice`)
  return seeds
}

/** Each variant with each seed, as variants of their own. */
export function sweepSeeds(file: ScenarioFile, seeds: readonly number[]): ScenarioFile {
  const variants = file.variants.flatMap((variant) =>
    seeds.map((seed) => ({ ...variant, seed, name: sweptName(variant.name, seed) })),
  )
  return { ...file, variants }
}

export const sweptName = (variant: string, seed: number): string => `${variant}, seed ${seed}`
