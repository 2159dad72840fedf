/** Faults as text. The grammar, docs/reference/faults.md, is generated from the table of verbs. */
import { durationFrom, durationPattern, formatDuration, QuantityError } from '@shardlab/quantities'
import { OptionError } from '../option-error.js'
import { Phrase, type FaultData } from './phrase.js'
import { verbTable, type FaultSpec, type FaultVerbName } from './verb-table.js'

export interface FaultForm {
  readonly verb: FaultVerbName
  readonly phrase: Phrase
  /** Data of a text without values; null: the phrase has values. */
  readonly data: FaultData | null
}

const forms: readonly FaultForm[] = verbTable.flatMap((verb) => {
  const forms: FaultForm[] = [{ verb: verb.verb, phrase: new Phrase(verb.phrase), data: null }]
  const shortcut = 'shortcut' in verb ? verb.shortcut : undefined
  if (shortcut !== undefined)
    forms.push({ verb: verb.verb, phrase: new Phrase(shortcut.phrase), data: { ...shortcut.data } })
  return forms
})

const phrases = new Map(forms.filter(({ data }) => data === null).map(({ verb, phrase }) => [verb, phrase]))

export function phraseOf(verb: string): Phrase {
  return phrases.get(verb as FaultVerbName)!
}

interface Filter {
  /** As the grammar shows it. */
  readonly grammar: string
  /** Faults that may have the filter. */
  readonly of: 'every fault' | 'faults of links' | 'faults of links and steps'
  readonly key: string
  readonly pattern: RegExp
  readonly read: (word: string) => unknown
  readonly write: (value: never) => string
}

/** Filters may follow a form in any order; they are written in this one. */
const filters: readonly Filter[] = [
  {
    grammar: 'only KIND { "," KIND }',
    of: 'faults of links',
    key: 'kinds',
    pattern: / only ([\w.-]+(?:, ?[\w.-]+)*)$/,
    read: (word) => word.split(/, ?/),
    write: (kinds: readonly string[]) => `only ${kinds.join(', ')}`,
  },
  {
    grammar: 'first N',
    of: 'faults of links and steps',
    key: 'first',
    pattern: / first (\d+)$/,
    read: Number,
    write: (count: number) => `first ${count}`,
  },
  {
    grammar: 'with probability N"%"',
    of: 'faults of links',
    key: 'probability',
    pattern: / with probability (\d+(?:\.\d+)?)%$/,
    read: (word) => Number(word) / 100,
    write: (probability: number) => `with probability ${Number((probability * 100).toPrecision(12))}%`,
  },
  {
    grammar: 'seed N',
    of: 'faults of links',
    key: 'seed',
    pattern: / seed (\d+)$/,
    read: Number,
    write: (seed: number) => `seed ${seed}`,
  },
  {
    grammar: 'after TIME',
    of: 'every fault',
    key: 'after',
    pattern: new RegExp(` after (${durationPattern})$`),
    read: String,
    write: (ms: number) => `after ${formatDuration(ms)}`,
  },
  {
    grammar: 'for TIME',
    of: 'every fault',
    key: 'for',
    pattern: new RegExp(` for (${durationPattern})$`),
    read: String,
    write: (ms: number) => `for ${formatDuration(ms)}`,
  },
]

/** For the reference page. */
export const faultReference = {
  forms: forms.map(({ verb, phrase }) => ({ verb, grammar: phrase.grammar, example: phrase.usage })),
  filters: filters.map(({ grammar, of }) => ({ grammar, of })),
  verbs: verbTable.map(({ verb, effect, healing }) => ({ verb, effect, healing })),
} as const

/** Without filters, for help texts. */
export const faultForms: readonly string[] = forms.map(({ phrase }) => phrase.usage)

/** @throws OptionError */
export function parseFaultText(text: string): FaultData {
  let rest = text.trim().replace(/\s+/g, ' ')
  const data: FaultData = {}
  const prefix = new RegExp(`^at (${durationPattern}) `).exec(rest)
  if (prefix !== null) {
    data['after'] = prefix[1]
    rest = rest.slice(prefix[0].length)
  }
  for (let found = true; found;) {
    found = false
    for (const { key, pattern, read } of filters) {
      const match = pattern.exec(rest)
      if (match === null) continue
      addTo(data, { [key]: read(match[1]!) }, text)
      rest = rest.slice(0, match.index)
      found = true
    }
  }
  for (const { verb, phrase, data: fixed } of forms) {
    const read = phrase.read(rest)
    if (read !== null) return addTo({ verb, ...read, ...fixed }, data, text)
  }
  throw new OptionError(notUnderstood(text, rest))
}

/** @throws OptionError if a key is in both */
function addTo(data: FaultData, more: FaultData, text: string): FaultData {
  const twice = Object.keys(more).find((key) => key in data)
  if (twice !== undefined)
    throw new OptionError(`the fault '${text}' gives ${written[twice] ?? twice} twice: keep one.`)
  return Object.assign(data, more)
}

/** Names of keys in texts, where they differ. */
const written: Readonly<Record<string, string>> = {
  kinds: "'only'",
  after: "its start ('at' or 'after')",
  for: "its duration ('for')",
  probability: 'its probability',
}

function notUnderstood(text: string, rest: string): string {
  const time = wrongTime(rest)
  if (time !== null) return `cannot read the fault '${text}': ${time}.`
  const verb = rest.split(' ')[0]!
  const alike = faultForms.filter((usage) => usage.startsWith(`${verb} `)).map((usage) => `'${usage}'`)
  if (alike.length === 0) return `unknown fault '${text}': a fault begins with one of ${firstWords().join(', ')}.`
  return `cannot read the fault '${text}': write ${alike.join(' or ')}, followed by any of for, after, first, only, with probability and seed.`
}

/** A time after `for`, `after`, `at` or, where a verb takes one, `by`, up to the next filter. */
const timeOf = /(?:^| )(for|after|at|by) (.+?)(?= (?:for|after|by|only|first|with probability|seed)\b|$)/g

/** What is wrong with a time in a text that cannot be read; null: nothing. */
function wrongTime(text: string): string | null {
  for (const [, word, given] of text.matchAll(timeOf)) {
    // The verbs `hold at`, `fail at` and `crash at` take a step; `slow` takes a factor.
    if ((word === 'at' && !/^-?\d/.test(given!)) || (word === 'by' && /^slow (?!disk)/.test(text))) continue
    for (const part of word === 'by' ? given!.split('..') : [given!]) {
      try {
        durationFrom(part)
      } catch (error) {
        if (error instanceof QuantityError) return `'${word} ${given}' ${error.message}`
        throw error
      }
    }
  }
  return null
}

function firstWords(): string[] {
  return [...new Set(faultForms.map((usage) => usage.split(' ')[0]!))]
}

/** {@link parseFaultText} reads the result as this fault. */
export function formatFault(spec: FaultSpec): string {
  const written = filters.flatMap(({ key, write }) => {
    const value = (spec as FaultData)[key]
    return value === undefined ? [] : [write(value as never)]
  })
  return [phraseOf(spec.verb).write(spec), ...written].join(' ')
}
