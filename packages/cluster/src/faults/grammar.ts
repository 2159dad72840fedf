/** Faults as text. The grammar, docs/reference/faults.md, is generated from the table of verbs. */
import { durationFrom, durationPattern, formatDuration, nearest, QuantityError } from '@shardlab/quantities'
import { OptionError } from '../option-error.js'
import { Phrase, type FaultData } from './phrase.js'
import type { FaultSpec, FaultVerbName } from './fault-data.js'
import type { FaultVerb } from './fault-verb.js'
import { verbTable } from './verb-table.js'

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
  verbs: (verbTable as readonly FaultVerb[]).map((verb) => ({
    ...{ verb: verb.verb, effect: verb.effect, healing: verb.healing },
    ofSet: verb.on === 'member' ? (verb.ofSet ?? 'members') : 'members',
  })),
} as const

/** Without filters, for help texts. */
export const faultForms: readonly string[] = forms.map(({ phrase }) => phrase.usage)

/** @throws OptionError */
export function parseFaultText(text: string): FaultData {
  const words = text.trim().replace(/\s+/g, ' ')
  const read = readFault(words)
  if (read.data !== null) return read.data
  throw new OptionError(notUnderstood(words, read.rest))
}

/**
 * @returns `data` null: not a fault; `rest` is the text without its filters
 * @throws OptionError if it gives a filter twice
 */
function readFault(text: string): { readonly data: FaultData | null; readonly rest: string } {
  let rest = text
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
    if (read !== null) return { data: addTo({ verb, ...read, ...fixed }, data, text), rest }
  }
  return { data: null, rest }
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
  const meant = corrected(text)
  if (meant !== null) return `cannot read the fault '${text}': did you mean '${meant}'?`
  const alike = formsLike(rest.split(' ')[0]!).map(({ phrase }) => `'${phrase.usage}'`)
  if (alike.length === 0) return `unknown fault '${text}': a fault begins with one of ${firstWords.join(', ')}.`
  return `cannot read the fault '${text}': write ${alike.join(' or ')}, followed by any of for, after, first, only, with probability and seed.`
}

const firstWords = [...new Set(forms.map(({ phrase }) => phrase.words[0]!))]
/** Words that are no values. */
const fixedWords = [
  ...new Set([
    'at',
    ...forms.flatMap(({ phrase }) => phrase.words),
    ...filters.flatMap(({ grammar }) => lowerCase(grammar)),
  ]),
]

function lowerCase(grammar: string): readonly string[] {
  return grammar.match(/[a-z]+/g) ?? []
}

/** The fault after the correction of one misspelt word; null: none. */
function corrected(text: string): string | null {
  const words = text.split(' ')
  for (const [i, word] of words.entries()) {
    if (fixedWords.includes(word)) continue
    for (const meant of fixedWords.filter((each) => nearest(word, [each]) !== null)) {
      const candidate = words.with(i, meant).join(' ')
      if (readFault(candidate).data !== null) return candidate
    }
  }
  return null
}

/** The forms of a misspelt verb, or of one as it is written in data, such as `stepDown`. */
function formsLike(word: string): readonly FaultForm[] {
  const known = [...firstWords, ...forms.map(({ verb }) => verb)]
  const meant = known.includes(word) ? word : nearest(word, known)
  return forms.filter(({ verb, phrase }) => verb === meant || phrase.words[0] === meant)
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

/** {@link parseFaultText} reads the result as this fault. */
export function formatFault(spec: FaultSpec): string {
  const written = filters.flatMap(({ key, write }) => {
    const value = (spec as unknown as FaultData)[key]
    return value === undefined ? [] : [write(value as never)]
  })
  return [phraseOf(spec.verb).write(spec), ...written].join(' ')
}
