/**
 * JavaScript's engine matches where it is certain to end soon, which is nearly always; elsewhere
 * {@link runProgram} does. See docs/decisions/0022-regular-expressions-end.md.
 */
import { CommandError } from '@shardlab/bson'
import type { Language } from '../../language/language.js'
import { backtrackingCost, endsSoon, type BacktrackingCost } from './backtracking-cost.js'
import { compileProgram, type Program } from './program.js'
import { limitReached, runProgram } from './run-program.js'
import { translatePattern } from './syntax.js'
import { parseTree } from './tree.js'

/** Shorter texts are not worth an analysis of the pattern: no search in them takes long. */
const safeLength = 12

export interface PatternMatch {
  readonly index: number
  /** The whole match, then the groups; undefined: did not participate. */
  readonly groups: readonly (string | undefined)[]
}

/** Has no state that a match changes, so it can be shared. */
export class Pattern {
  readonly #expression: RegExp
  #searching: RegExp | null = null
  #cost: BacktrackingCost | null = null
  #program: Program | null | undefined

  constructor(expression: RegExp) {
    this.#expression = expression
  }

  /**
   * As in a filter of the server, a search that reaches the match limit has not matched.
   * @throws CommandError from `checkForInterrupt`
   */
  test(text: string, checkForInterrupt?: () => void): boolean {
    if (this.#isQuick(text)) return this.#expression.test(text)
    const found = this.#run(text, 0, checkForInterrupt)
    return found !== null && found !== limitReached
  }

  /** @param from a position between two characters */
  find(text: string, from: number, checkForInterrupt?: () => void): PatternMatch | null | typeof limitReached {
    if (this.#isQuick(text)) {
      const { source, flags } = this.#expression
      const searching = (this.#searching ??= new RegExp(source, `${flags}g`))
      searching.lastIndex = from
      const match = searching.exec(text)
      return match === null ? null : { index: match.index, groups: [...match] }
    }
    const found = this.#run(text, from, checkForInterrupt)
    if (found === null || found === limitReached) return found
    const groups: (string | undefined)[] = []
    for (let group = 0; group <= this.#program!.groupCount; group++) {
      const [start, end] = [found[2 * group]!, found[2 * group + 1]!]
      groups.push(start < 0 || end < 0 ? undefined : text.slice(start, end))
    }
    return { index: found[0]!, groups }
  }

  #isQuick(text: string): boolean {
    if (text.length <= safeLength) return true
    this.#cost ??= backtrackingCost(this.#expression.source, this.#expression.flags)
    return endsSoon(this.#cost, text)
  }

  #run(text: string, from: number, checkForInterrupt?: () => void): Int32Array | null | typeof limitReached {
    const { source, flags } = this.#expression
    if (this.#program === undefined) this.#program = compileProgram(parseTree(source), flags)
    return this.#program === null
      ? limitReached
      : runProgram(this.#program, text, from, this.#cost!.starts, checkForInterrupt)
  }
}

/** The keys are options and pattern. Commands repeat the same ones. */
const cache = new Map<string, Pattern>()
const maxCached = 500

/** @throws CommandError 51108 for an unknown option */
export function checkPatternOptions(operator: string, options: string, { regexOptionU }: Language): void {
  const known = regexOptionU ? 'imsxu' : 'imsx'
  for (const option of options)
    if (!known.includes(option)) throw new CommandError(51108, `${operator} invalid flag in regex options: ${option}`)
}

/**
 * Ignores unknown options.
 * @throws CommandError 51091 for a pattern that does not compile
 */
export function compilePattern(pattern: string, options: string): Pattern {
  const key = `${options}/${pattern}`
  let compiled = cache.get(key)
  if (compiled === undefined) {
    compiled = new Pattern(translated(pattern, options))
    if (cache.size >= maxCached) cache.clear()
    cache.set(key, compiled)
  }
  return compiled
}

function translated(pattern: string, options: string): RegExp {
  if (pattern.includes('\0'))
    throw new CommandError('BadValue', 'Regular expression cannot contain an embedded null byte')
  try {
    const { text, ignoreCase } = translatePattern(pattern, new Set(options))
    return new RegExp(text, ignoreCase ? 'iu' : 'u')
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(51091, `Regular expression is invalid: ${(error as Error).message}`)
  }
}
