/** Faults as text, `crash shard02 for 5s`: the grammar stands in the README of this package. */
import { durationPattern, formatDuration } from '@shardlab/quantities'
import { OptionError } from '../option-error.js'
import { formatRate } from '../quantity-options.js'
import type { FaultSpec } from './schema.js'

type Words = Readonly<Record<string, string | undefined>>
type Data = Record<string, unknown>

interface Form {
  /** Shown to who got it wrong. */
  readonly usage: string
  readonly pattern: RegExp
  readonly data: (words: Words) => Data
}

const who = String.raw`(?<target>\S+)`
const time = `(?<by>${durationPattern})`
const step = String.raw`(?<step>\S+)(?: on (?<target>\S+))?`
const between = String.raw`(?:between (?<one>\S+) and (?<other>\S+)|from (?<from>\S+) to (?<to>\S+))`
const percentage = String.raw`(?:(?<percent>\d+(?:\.\d+)?)% )?`

const member = (verb: string, words: string): Form => ({
  usage: `${words} shard02`,
  pattern: new RegExp(`^${words} ${who}$`),
  data: ({ target }) => ({ verb, target }),
})

const atStep = (verb: string, words: string): Form => ({
  usage: `${words} shard.migration.committing [on shard01]`,
  pattern: new RegExp(`^${words} ${step}$`),
  data: ({ step, target }) => ({ verb, step, ...(target === undefined ? {} : { target }) }),
})

function linkOf({ one, other, from, to }: Words): Data {
  return one === undefined ? { from, to, bothWays: false } : { from: one, to: other, bothWays: true }
}

const probabilityOf = ({ percent }: Words): Data =>
  percent === undefined ? {} : { probability: Number(percent) / 100 }

const forms: readonly Form[] = [
  atStep('crashAt', 'crash at'),
  member('crash', 'crash'),
  member('destroy', 'destroy'),
  member('restart', 'restart'),
  member('stop', 'stop'),
  member('pause', 'pause'),
  member('resume', 'resume'),
  member('stepDown', 'step down'),
  {
    usage: 'slow disk of shard02 by 20ms',
    pattern: new RegExp(`^slow disk of ${who} by ${time}$`),
    data: ({ target, by }) => ({ verb: 'slowDisk', target, by }),
  },
  {
    usage: 'slow shard02 by 10x',
    pattern: new RegExp(String.raw`^slow ${who} by (?<factor>\d+(?:\.\d+)?)x$`),
    data: ({ target, factor }) => ({ verb: 'slow', target, factor: Number(factor) }),
  },
  member('fullDisk', 'fill disk of'),
  {
    usage: 'skew clock of shard02 by -2h',
    pattern: new RegExp(`^skew clock of ${who} by ${time}$`),
    data: ({ target, by }) => ({ verb: 'skewClock', target, by }),
  },
  {
    usage: 'jump clock of shard02 by -2h',
    pattern: new RegExp(`^jump clock of ${who} by ${time}$`),
    data: ({ target, by }) => ({ verb: 'jumpClock', target, by }),
  },
  { ...member('freezeRoutes', 'freeze routes of'), usage: 'freeze routes of mongos01' },
  member('stallRangeDeleter', 'stall range deleter of'),
  {
    usage: 'partition shard01 [from shard02] [one way]',
    pattern: new RegExp(String.raw`^partition ${who}(?: from (?<from>\S+))?(?<oneWay> one way)?$`),
    data: ({ target, from = 'everybody', oneWay }) => ({
      verb: 'partition',
      link: { from: target, to: from, bothWays: oneWay === undefined },
    }),
  },
  {
    usage: 'delay between mongos01 and shard02 by 20ms[..40ms]',
    pattern: new RegExp(`^delay ${percentage}${between} by ${time}(?:\\.\\.(?<upTo>${durationPattern}))?$`),
    data: (words) => ({
      verb: 'delay',
      link: linkOf(words),
      by: words['by'],
      ...(words['upTo'] === undefined ? {} : { upTo: words['upTo'] }),
      ...probabilityOf(words),
    }),
  },
  {
    usage: 'limit between mongos01 and shard02 to 10MB/s',
    pattern: new RegExp(String.raw`^limit ${between} to (?<rate>\S+)$`),
    data: (words) => ({ verb: 'limit', link: linkOf(words), to: words['rate'] }),
  },
  {
    usage: 'drop [5%] between mongos01 and shard02',
    pattern: new RegExp(`^drop ${percentage}${between}$`),
    data: (words) => ({ verb: 'drop', link: linkOf(words), ...probabilityOf(words) }),
  },
  {
    usage: 'refuse connections to shard02 [from mongos01]',
    pattern: new RegExp(String.raw`^refuse connections to ${who}(?: from (?<from>\S+))?$`),
    data: ({ target, from = 'everybody' }) => ({ verb: 'refuse', link: { from, to: target } }),
  },
  {
    usage: 'config unavailable',
    pattern: /^config unavailable$/,
    data: () => ({ verb: 'refuse', link: { from: 'everybody', to: 'config' } }),
  },
  {
    usage: 'cut replies of mongos01 [to clients]',
    pattern: new RegExp(String.raw`^cut ${percentage}replies of ${who}(?: to (?<to>\S+))?$`),
    data: (words) => ({
      verb: 'cut',
      link: { from: words['target'], to: words['to'] ?? 'everybody' },
      ...probabilityOf(words),
    }),
  },
  {
    usage: 'duplicate [5%] between shard01 and shard02',
    pattern: new RegExp(`^duplicate ${percentage}${between}$`),
    data: (words) => ({ verb: 'duplicate', link: linkOf(words), ...probabilityOf(words) }),
  },
  atStep('hold', 'hold at'),
  atStep('fail', 'fail at'),
]

/** What may stand behind any form, in any order. */
const filters: readonly { readonly pattern: RegExp; readonly data: (word: string) => Data }[] = [
  { pattern: new RegExp(` for (${durationPattern})$`), data: (word) => ({ for: word }) },
  { pattern: new RegExp(` after (${durationPattern})$`), data: (word) => ({ after: word }) },
  { pattern: / first (\d+)$/, data: (word) => ({ first: Number(word) }) },
  { pattern: / seed (\d+)$/, data: (word) => ({ seed: Number(word) }) },
  { pattern: / with probability (\d+(?:\.\d+)?)%$/, data: (word) => ({ probability: Number(word) / 100 }) },
  { pattern: / only ([\w.-]+(?:, ?[\w.-]+)*)$/, data: (word) => ({ kinds: word.split(/, ?/) }) },
]

/** The forms of the grammar without filters, for help texts. */
export const faultForms: readonly string[] = forms.map(({ usage }) => usage)

/**
 * A fault as data from its text, such as `drop 5% between mongos01 and shard02 first 10 for 1m`.
 * @throws OptionError one sentence
 */
export function parseFaultText(text: string): Data {
  let rest = text.trim().replace(/\s+/g, ' ')
  const data: Data = {}
  const prefix = new RegExp(`^at (${durationPattern}) `).exec(rest)
  if (prefix !== null) {
    data['after'] = prefix[1]
    rest = rest.slice(prefix[0].length)
  }
  for (let found = true; found;) {
    found = false
    for (const { pattern, data: read } of filters) {
      const match = pattern.exec(rest)
      if (match === null) continue
      addTo(data, read(match[1]!), text)
      rest = rest.slice(0, match.index)
      found = true
    }
  }
  for (const form of forms) {
    const match = form.pattern.exec(rest)
    if (match !== null) return addTo(form.data(match.groups ?? {}), data, text)
  }
  throw new OptionError(notUnderstood(text, rest))
}

/** @throws OptionError when the text says something twice */
function addTo(data: Data, more: Data, text: string): Data {
  const twice = Object.keys(more).find((key) => key in data)
  if (twice !== undefined) throw new OptionError(`'${text}' says ${said[twice] ?? twice} twice.`)
  return Object.assign(data, more)
}

/** How a text says it, where data have another name for it. */
const said: Words = { kinds: 'only', after: 'when it begins', for: 'how long it lasts' }

function notUnderstood(text: string, rest: string): string {
  const verb = rest.split(' ')[0]!
  const alike = forms.filter(({ usage }) => usage.startsWith(`${verb} `)).map(({ usage }) => `'${usage}'`)
  if (alike.length === 0) return `'${text}' is no fault; one begins with ${firstWords().join(', ')}.`
  return `'${text}' is not understood; write ${alike.join(' or ')}, and behind it for, after, first, only, with probability or seed.`
}

function firstWords(): string[] {
  return [...new Set(forms.map(({ usage }) => usage.split(' ')[0]!))]
}

/** The text that {@link parseFaultText} reads as this fault. */
export function formatFault(spec: FaultSpec): string {
  return `${phraseOf(spec)}${filtersOf(spec)}`
}

function phraseOf(spec: FaultSpec): string {
  switch (spec.verb) {
    case 'crash':
    case 'destroy':
    case 'restart':
    case 'stop':
    case 'pause':
    case 'resume':
      return `${spec.verb} ${spec.target}`
    case 'stepDown':
      return `step down ${spec.target}`
    case 'slow':
      return `slow ${spec.target} by ${spec.factor}x`
    case 'slowDisk':
      return `slow disk of ${spec.target} by ${formatDuration(spec.by)}`
    case 'fullDisk':
      return `fill disk of ${spec.target}`
    case 'skewClock':
      return `skew clock of ${spec.target} by ${formatDuration(spec.by)}`
    case 'jumpClock':
      return `jump clock of ${spec.target} by ${formatDuration(spec.by)}`
    case 'freezeRoutes':
      return `freeze routes of ${spec.target}`
    case 'stallRangeDeleter':
      return `stall range deleter of ${spec.target}`
    case 'partition':
      return `partition ${spec.link.from} from ${spec.link.to}${spec.link.bothWays ? '' : ' one way'}`
    case 'delay':
      return `delay ${linkText(spec.link)} by ${formatDuration(spec.by)}${spec.upTo === undefined ? '' : `..${formatDuration(spec.upTo)}`}`
    case 'drop':
    case 'duplicate':
      return `${spec.verb} ${linkText(spec.link)}`
    case 'limit':
      return `limit ${linkText(spec.link)} to ${formatRate(spec.to)}`
    case 'refuse':
      return `refuse connections to ${spec.link.to} from ${spec.link.from}`
    case 'cut':
      return `cut replies of ${spec.link.from} to ${spec.link.to}`
    case 'hold':
    case 'fail':
      return `${spec.verb} at ${spec.step}${spec.target === undefined ? '' : ` on ${spec.target}`}`
    case 'crashAt':
      return `crash at ${spec.step}${spec.target === undefined ? '' : ` on ${spec.target}`}`
  }
}

function linkText({ from, to, bothWays }: { from: string; to: string; bothWays: boolean }): string {
  return bothWays ? `between ${from} and ${to}` : `from ${from} to ${to}`
}

function filtersOf(spec: FaultSpec): string {
  let text = ''
  if ('kinds' in spec && spec.kinds !== undefined) text += ` only ${spec.kinds.join(', ')}`
  if ('first' in spec && spec.first !== undefined) text += ` first ${spec.first}`
  if ('probability' in spec && spec.probability !== undefined)
    text += ` with probability ${Number((spec.probability * 100).toPrecision(12))}%`
  if ('seed' in spec && spec.seed !== undefined) text += ` seed ${spec.seed}`
  if (spec.after !== undefined) text += ` after ${formatDuration(spec.after)}`
  if ('for' in spec && spec.for !== undefined) text += ` for ${formatDuration(spec.for)}`
  return text
}
