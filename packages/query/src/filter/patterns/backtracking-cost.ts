/**
 * How long a text may be so that JavaScript's engine, which backtracks without a limit, ends soon
 * in the worst case. The estimate is too high for many patterns, and never too low.
 */
import { characterSet } from './character-set.js'
import { parseTree, type PatternNode, type RepeatNode } from './tree.js'

/** About a tenth of a second. */
const stepsMax = 30_000_000
/** For patterns whose cost grows exponentially. */
const exponentialLengthMax = 12
/** Loops of fewer repetitions multiply the cost by a constant. */
const smallLoopMax = 16

/**
 * Characters that can come next: the first 256 code points, and one bit for all others.
 */
export type NextCharacters = Uint8Array

const others = 256
const none: NextCharacters = new Uint8Array(others + 1)
const all: NextCharacters = new Uint8Array(others + 1).fill(1)

export interface BacktrackingCost {
  /** For longer texts, the cost depends on the number of positions at which a match may begin. */
  readonly lengthMax: number
  /** Steps for each such position, as a power of the length; Infinity: grows exponentially. */
  readonly exponentOfStart: number
  readonly factor: number
  /** Null: a match can begin anywhere, or only at the start. */
  readonly starts: NextCharacters | null
}

const free: BacktrackingCost = { lengthMax: Infinity, exponentOfStart: 0, factor: 1, starts: null }

/** @param text a translated pattern that JavaScript accepts */
export function backtrackingCost(text: string, flags: string): BacktrackingCost {
  if (!/[*+?{]/.test(text.replaceAll(/\\u\{[0-9a-f]+\}|\(\?/g, ''))) return free
  const { root } = parseTree(text)
  const cost = new CostEstimate(flags)
  cost.visit(root, none, null)
  const { factor } = cost
  const exponentOfStart = cost.isExponential ? Infinity : cost.ambiguousLoops + (cost.hasOtherLoops ? 1 : 0)
  const isAnchored = startsAtStart(root)
  const exponent = exponentOfStart + (isAnchored ? 0 : 1)
  const lengthMax = cost.isExponential
    ? exponentialLengthMax
    : exponent <= 1
      ? Infinity
      : Math.floor((stepsMax / factor) ** (1 / exponent))
  return { lengthMax, exponentOfStart, factor, starts: isAnchored ? null : cost.startsOf(root) }
}

/** Whether JavaScript's engine ends soon on this text. */
export function endsSoon({ lengthMax, exponentOfStart, factor, starts }: BacktrackingCost, text: string): boolean {
  const { length } = text
  if (length <= lengthMax) return true
  if (starts === null || exponentOfStart === Infinity) return false
  let startsLeft = Math.floor(stepsMax / factor / length ** exponentOfStart)
  for (let at = 0; at < length && startsLeft >= 0; at++) if (isStart(starts, text.charCodeAt(at))) startsLeft--
  return startsLeft >= 0
}

export function isStart(starts: NextCharacters, codeUnit: number): boolean {
  return starts[codeUnit < others ? codeUnit : others] === 1
}

function startsAtStart(node: PatternNode): boolean {
  switch (node.kind) {
    case 'start':
      return true
    case 'group':
      return startsAtStart(node.body)
    case 'sequence':
      return node.items[0] !== undefined && startsAtStart(node.items[0])
    case 'choice':
      return node.options.every(startsAtStart)
    default:
      return false
  }
}

interface Beginning {
  readonly first: NextCharacters
  readonly canBeEmpty: boolean
}

const nothing: Beginning = { first: none, canBeEmpty: true }

class CostEstimate {
  isExponential = false
  /** After each repetition of such a loop, the rest of the pattern may match as well. */
  ambiguousLoops = 0
  hasOtherLoops = false
  /** Product of the numbers of ways through choices and small loops. */
  factor = 1
  readonly #flags: string
  readonly #beginnings = new Map<PatternNode, Beginning>()

  constructor(flags: string) {
    this.#flags = flags
  }

  /**
   * @param next characters that can follow the node
   * @param cycle those that can follow it within the innermost loop; null: outside of loops
   */
  visit(node: PatternNode, next: NextCharacters, cycle: NextCharacters | null): void {
    switch (node.kind) {
      case 'sequence': {
        let rest = nothing
        for (const item of node.items.toReversed()) {
          this.visit(item, after(rest, next), cycle === null ? null : after(rest, cycle))
          rest = followed(this.#beginningOf(item), rest)
        }
        return
      }
      case 'choice':
        this.#choice(node.options, next, cycle)
        return
      case 'group':
        this.visit(node.body, next, cycle)
        return
      case 'look':
        this.#look(node.body)
        return
      case 'reference':
        this.ambiguousLoops++
        return
      case 'repeat':
        this.#repeat(node, next, cycle)
        return
      case 'set':
      case 'start':
      case 'boundary':
    }
  }

  /** Null: a match may be empty. */
  startsOf(root: PatternNode): NextCharacters | null {
    const { first, canBeEmpty } = this.#beginningOf(root)
    return canBeEmpty ? null : first
  }

  #choice(options: readonly PatternNode[], next: NextCharacters, cycle: NextCharacters | null): void {
    let { first } = nothing
    for (const option of options) {
      this.visit(option, next, cycle)
      const begin = this.#beginningOf(option)
      if (overlap(first, after(begin, cycle ?? next))) {
        // In a loop, two ways to begin may be two ways to match the same text.
        if (cycle === null) this.factor *= 2
        else this.isExponential = true
      }
      first = union(first, after(begin, cycle ?? next))
    }
  }

  /** Nothing outside of the assertion makes the engine try another way through it. */
  #look(body: PatternNode): void {
    const before = this.ambiguousLoops
    const hadOthers = this.hasOtherLoops
    this.hasOtherLoops = false
    this.visit(body, none, null)
    if (this.hasOtherLoops || this.ambiguousLoops > before) this.ambiguousLoops++
    this.hasOtherLoops = hadOthers
  }

  #repeat({ body, min, max }: RepeatNode, next: NextCharacters, cycle: NextCharacters | null): void {
    if (max === 0) return
    const { first, canBeEmpty } = this.#beginningOf(body)
    this.visit(body, max > 1 ? union(first, next) : next, max > 1 ? first : cycle)
    if (max > 1 && canBeEmpty) this.isExponential = true
    if (min === max) {
      if (max > smallLoopMax) this.hasOtherLoops = true
      return
    }
    if (cycle !== null && overlap(first, cycle)) this.isExponential = true
    const isAmbiguous = overlap(first, next)
    if (max - min > smallLoopMax) {
      if (isAmbiguous) this.ambiguousLoops++
      else this.hasOtherLoops = true
    } else if (isAmbiguous) this.factor *= max - min + 1
  }

  #beginningOf(node: PatternNode): Beginning {
    let beginning = this.#beginnings.get(node)
    if (beginning === undefined) this.#beginnings.set(node, (beginning = this.#findBeginning(node)))
    return beginning
  }

  #findBeginning(node: PatternNode): Beginning {
    switch (node.kind) {
      case 'set':
        return { first: this.#charactersOf(node.text), canBeEmpty: false }
      case 'sequence':
        return node.items.reduceRight((rest, item) => followed(this.#beginningOf(item), rest), nothing)
      case 'choice': {
        const options = node.options.map((option) => this.#beginningOf(option))
        return {
          first: options.reduce((first, option) => union(first, option.first), none),
          canBeEmpty: options.some(({ canBeEmpty }) => canBeEmpty),
        }
      }
      case 'group':
        return this.#beginningOf(node.body)
      case 'reference':
        return { first: all, canBeEmpty: true }
      case 'repeat': {
        const { first, canBeEmpty } = this.#beginningOf(node.body)
        return node.max === 0 ? nothing : { first, canBeEmpty: canBeEmpty || node.min === 0 }
      }
      default:
        return nothing
    }
  }

  #charactersOf(text: string): NextCharacters {
    const key = `${this.#flags}/${text}`
    let characters = cache.get(key)
    if (characters === undefined) {
      const set = characterSet(text, this.#flags)
      characters = Uint8Array.from(all, (_, code) => (code < others && set.has(code) ? 1 : 0))
      const foldsToOthers = this.#flags.includes('i') && foldingToOthers.some((code) => characters![code] === 1)
      if (foldsToOthers || !withoutOthers.test(text)) characters[others] = 1
      if (cache.size >= maxCached) cache.clear()
      cache.set(key, characters)
    }
    return characters
  }
}

/** A character, escape or class that has no character above the first 256. */
const withoutOthers =
  /^(?:[\0-\xff]|\\(?:[dwfnrt]|u\{[0-9a-f]{1,2}\}|[^\w\s])|\[(?!\^)(?:[\0-[^-\xff]|\\(?:[dwfnrt]|u\{[0-9a-f]{1,2}\}|[^\w\s]))*\])$/
/** Letters that are equal to one above the first 256, but for their case: s, k, å, ÿ, ß, µ. */
const foldingToOthers = Array.from('sSkKåÅÿßµ', (letter) => letter.charCodeAt(0))

const cache = new Map<string, NextCharacters>()
const maxCached = 1000

function after({ first, canBeEmpty }: Beginning, next: NextCharacters): NextCharacters {
  return canBeEmpty ? union(first, next) : first
}

function followed(item: Beginning, rest: Beginning): Beginning {
  return { first: after(item, rest.first), canBeEmpty: item.canBeEmpty && rest.canBeEmpty }
}

function union(a: NextCharacters, b: NextCharacters): NextCharacters {
  if (a === none || b === all) return b
  if (b === none || a === all) return a
  return a.map((isIn, code) => isIn | b[code]!)
}

function overlap(a: NextCharacters, b: NextCharacters): boolean {
  return a.some((isIn, code) => isIn === 1 && b[code] === 1)
}
