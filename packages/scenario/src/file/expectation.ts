/** Expectations: a number of the result by its path, compared with another: `imbalance.last < 1.2`, `bytesMoved <= 20MB`. */
import { parseBytes, parseTime } from './quantities.js'

const operators: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
}

export interface Expectation {
  readonly text: string
  readonly path: string
  readonly operator: string
  readonly value: number
}

/** An expectation that a variant does not meet. */
export interface FailedExpectation {
  readonly expect: string
  readonly path: string
  /** Null: the result has no number there, such as the time of convergence of what has not converged. */
  readonly actual: number | null
  /** One sentence. */
  readonly message: string
}

const grammar = /^\s*([A-Za-z](?:[\w.]|-\d)*)\s*(<=|>=|==|!=|<|>)\s*(\S+)\s*$/

/** Numbers of a result: `VariantResult` in types.ts. */
const numbers: readonly RegExp[] = [
  /^imbalance\.(first|worst|last)$/,
  /^imbalance\.(bytes|chunks|operations)\.(first|worst|last)\.(maxToMean|deviation)$/,
  /^migrations\.(total|aborted|repeated|returned)$/,
  /^migrations\.byReason\.(draining|zoneViolation|chunksImbalance|defragment|other)$/,
  /^(splits|merges|bytesMoved|bytesMovedLeast|convergedAtMs|jumboChunks)$/,
  /^orphans\.(worst|last)$/,
  /^criticalSections\.(longestMs|totalMs)$/,
  /^operations\.(total|failed)$/,
  /^operations\.latencyMs\.(p50|p99|max)$/,
  /^operations\.errors\.-?\d+$/,
  /^operations\.routed\.(targeted|multi|broadcast)$/,
  /^hottest\.share$/,
  /^shards\.[\w-]+\.(bytes|orphans|chunks|operations)$/,
]

/** @returns the expectation, or what is wrong with the text */
export function parseExpectation(text: string): Expectation | string {
  const match = grammar.exec(text)
  if (match === null) return `${JSON.stringify(text)} is not understood: write it as in "imbalance.last < 1.2" or "migrations.total <= 400"`
  const [, path, operator, written] = match as unknown as [string, string, string, string]
  if (!numbers.some((pattern) => pattern.test(path)))
    return `the result has no number ${path}; there are imbalance.last, migrations.total, bytesMoved and others: docs/guides/simulate.md`
  const value = numberOf(written)
  if (value === null) return `${JSON.stringify(text)} compares with ${written}: give a number, a share such as 40%, a size or a time`
  return { text, path, operator, value }
}

function numberOf(text: string): number | null {
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(text)
  if (percent !== null) return Number(percent[1]) / 100
  if (/^-?\d+(\.\d+)?(e\d+)?$/i.test(text)) return Number(text)
  for (const read of [parseTime, parseBytes]) {
    try {
      return read(text)
    } catch {
      // Not this kind of quantity.
    }
  }
  return null
}

/** @param result the variant's, without series */
export function failedExpectations(result: unknown, texts: readonly string[]): FailedExpectation[] {
  return texts.flatMap((text) => {
    const { path, operator, value } = parseExpectation(text) as Expectation
    const actual = numberAt(result, path)
    if (actual !== null && operators[operator]!(actual, value)) return []
    const message = `expected ${text}, but ${actual === null ? `there is no number ${path}` : `it is ${shown(actual)}`}`
    return [{ expect: text, path, actual, message }]
  })
}

function numberAt(result: unknown, path: string): number | null {
  const value = path.split('.').reduce<unknown>((at, part) => (at as Record<string, unknown> | null | undefined)?.[part], result)
  if (typeof value === 'number') return value
  // Only errors that there were are listed.
  return path.startsWith('operations.errors.') ? 0 : null
}

const shown = (value: number): string => (Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(4))))
