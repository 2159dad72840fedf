/** Parser and formatter of a fault's text without its filters, made from the phrase of its verb. */
import { durationPattern, formatDuration, formatSize } from '@shardlab/quantities'
import { formatRate } from '../quantity-options.js'
import { targetPattern, wordsOfTargets } from './targets/named-target.js'

export type FaultData = Record<string, unknown>
type Words = Readonly<Record<string, string | undefined>>
export interface PhraseValues {
  readonly target?: string | undefined
  readonly step?: string
  readonly by?: number
  readonly upTo?: number | undefined
  readonly factor?: number
  /** Bytes, or bytes a second. */
  readonly to?: number
  readonly link?: { readonly from: string; readonly to: string; readonly bothWays?: boolean }
}

interface Placeholder {
  /** As the grammar shows it. */
  readonly symbol: string
  readonly pattern: string
  /** Words around the values. Default: none. */
  readonly words?: readonly string[]
  /** Adds the values of the words to the data. */
  read(words: Words, data: FaultData): void
  /** undefined: left out. */
  write(values: PhraseValues): string | undefined
}

const name = String.raw`\S+`
const number = String.raw`\d+(?:\.\d+)?`
const everybody = 'everybody'

function linkWith(data: FaultData, part: object): void {
  data['link'] = { ...(data['link'] as object | undefined), ...part }
}

const placeholders: Readonly<Record<string, Placeholder>> = {
  target: {
    symbol: 'M',
    pattern: `(?<target>${targetPattern})`,
    words: wordsOfTargets,
    read({ target }, data) {
      if (target !== undefined) data['target'] = target
    },
    write: ({ target }) => target,
  },
  step: {
    symbol: 'STEP',
    pattern: `(?<step>${name})`,
    read: ({ step }, data) => void (data['step'] = step),
    write: ({ step }) => step,
  },
  by: {
    symbol: 'TIME',
    pattern: `(?<by>${durationPattern})`,
    read: ({ by }, data) => void (data['by'] = by),
    write: ({ by }) => formatDuration(by!),
  },
  upTo: {
    symbol: 'TIME',
    pattern: `(?<upTo>${durationPattern})`,
    read({ upTo }, data) {
      if (upTo !== undefined) data['upTo'] = upTo
    },
    write: ({ upTo }) => (upTo === undefined ? undefined : formatDuration(upTo)),
  },
  factor: {
    symbol: 'N"x"',
    pattern: `(?<factor>${number})x`,
    read: ({ factor }, data) => void (data['factor'] = Number(factor)),
    write: ({ factor }) => `${factor}x`,
  },
  rate: {
    symbol: 'RATE',
    pattern: `(?<rate>${name})`,
    read: ({ rate }, data) => void (data['to'] = rate),
    write: ({ to }) => formatRate(to!),
  },
  size: {
    symbol: 'SIZE',
    pattern: `(?<size>${name})`,
    read: ({ size }, data) => void (data['to'] = size),
    write: ({ to }) => formatSize(to!),
  },
  percent: {
    symbol: 'N"%"',
    pattern: `(?<percent>${number})%`,
    read({ percent }, data) {
      if (percent !== undefined) data['probability'] = Number(percent) / 100
    },
    // Written as the filter `with probability`.
    write: () => undefined,
  },
  link: {
    symbol: 'link',
    pattern: `(?:between (?<one>${targetPattern}) and (?<other>${targetPattern})|from (?<from>${targetPattern}) to (?<to>${targetPattern}))`,
    words: ['between', 'and', 'from', 'to', ...wordsOfTargets],
    read({ one, other, from, to }, data) {
      linkWith(data, one === undefined ? { from, to, bothWays: false } : { from: one, to: other, bothWays: true })
    },
    write({ link }) {
      const { from, to, bothWays } = link!
      return bothWays === true ? `between ${from} and ${to}` : `from ${from} to ${to}`
    },
  },
  from: {
    symbol: 'E',
    pattern: `(?<from>${targetPattern})`,
    words: wordsOfTargets,
    read: ({ from = everybody }, data) => linkWith(data, { from }),
    write: ({ link }) => link!.from,
  },
  to: {
    symbol: 'E',
    pattern: `(?<to>${targetPattern})`,
    words: wordsOfTargets,
    read: ({ to = everybody }, data) => linkWith(data, { to }),
    write: ({ link }) => link!.to,
  },
  oneWay: {
    symbol: 'one way',
    pattern: '(?<oneWay>one way)',
    words: ['one', 'way'],
    read: ({ oneWay }, data) => linkWith(data, { bothWays: oneWay === undefined }),
    write: ({ link }) => (link!.bothWays === true ? undefined : 'one way'),
  },
}

type Piece =
  | { readonly type: 'words'; readonly text: string }
  | { readonly type: 'value'; readonly placeholder: Placeholder; readonly example: string }
  | { readonly type: 'optional'; readonly pieces: readonly Piece[] }

export class Phrase {
  /** With example values: `delay [5%] between mongos01 and shard02 by 20ms[..40ms]`. */
  readonly usage: string
  /** With the symbols of the grammar: `delay [ N"%" ] link by TIME [ ".." TIME ]`. */
  readonly grammar: string
  /** Without values: `delay`, `between`, `and`, `by`. */
  readonly words: readonly string[]
  /** In error texts: `slow disk`. */
  readonly title: string
  readonly #pieces: readonly Piece[]
  readonly #pattern: RegExp

  /** @param text see {@link FaultVerb.phrase} */
  constructor(text: string) {
    this.#pieces = piecesOf(text)
    this.usage = usageOf(this.#pieces)
    this.words = wordsOf(this.#pieces)
    this.grammar = grammarOf(this.#pieces)
    this.title = text.replace(/(?: of| at| to)?[ ]*[[{].*/, '')
    this.#pattern = new RegExp(`^${patternOf(this.#pieces)}$`)
  }

  /** null: the text does not match the phrase. */
  read(text: string): FaultData | null {
    const match = this.#pattern.exec(text)
    if (match === null) return null
    const data: FaultData = {}
    for (const placeholder of placeholdersOf(this.#pieces)) placeholder.read(match.groups ?? {}, data)
    return data
  }

  write(values: PhraseValues): string {
    return textOf(this.#pieces, values)!
  }
}

function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = []
  for (const [part, optional, value, example] of text.matchAll(/\[([^\]]*)\]|\{(\w+)=([^}]*)\}|[^[{]+/g)) {
    if (optional !== undefined) pieces.push({ type: 'optional', pieces: piecesOf(optional) })
    else if (value === undefined) pieces.push({ type: 'words', text: part })
    else pieces.push({ type: 'value', placeholder: placeholders[value]!, example: example! })
  }
  return pieces
}

function placeholdersOf(pieces: readonly Piece[]): Placeholder[] {
  return pieces.flatMap((piece) => {
    if (piece.type === 'optional') return placeholdersOf(piece.pieces)
    return piece.type === 'value' ? [piece.placeholder] : []
  })
}

function wordsOf(pieces: readonly Piece[]): string[] {
  return pieces.flatMap((piece) => {
    if (piece.type === 'optional') return wordsOf(piece.pieces)
    return piece.type === 'words' ? (piece.text.match(/[a-z]+/g) ?? []) : (piece.placeholder.words ?? [])
  })
}

function patternOf(pieces: readonly Piece[]): string {
  const patterns = pieces.map((piece) => {
    if (piece.type === 'optional') return `(?:${patternOf(piece.pieces)})?`
    return piece.type === 'value' ? piece.placeholder.pattern : piece.text.replaceAll('.', String.raw`\.`)
  })
  return patterns.join('')
}

function usageOf(pieces: readonly Piece[]): string {
  const parts = pieces.map((piece) => {
    if (piece.type !== 'optional') return piece.type === 'value' ? piece.example : piece.text
    const usage = usageOf(piece.pieces)
    return usage.startsWith(' ') ? ` [${usage.slice(1)}]` : `[${usage}]`
  })
  return parts.join('')
}

function grammarOf(pieces: readonly Piece[]): string {
  const parts = pieces.map((piece) => {
    if (piece.type === 'optional') return ` [ ${grammarOf(piece.pieces).trim()} ]`
    if (piece.type === 'value') return piece.placeholder.symbol
    return piece.text.replace(/^\.\.$/, '".." ')
  })
  return parts.join('')
}

/** null: a value is left out. */
function textOf(pieces: readonly Piece[], values: PhraseValues): string | null {
  let text = ''
  for (const piece of pieces) {
    if (piece.type === 'words') text += piece.text
    else if (piece.type === 'optional') text += textOf(piece.pieces, values) ?? ''
    else {
      const value = piece.placeholder.write(values)
      if (value === undefined) return null
      text += value
    }
  }
  return text
}
