/**
 * Linearizability of one register: the operations have an order that respects which ended before
 * others began, and in which each read returns the last written value. Algorithm of Wing and Gong,
 * with the memory of Lowe ("Testing for linearizability").
 */
export interface RegisterOperation {
  readonly kind: 'read' | 'write'
  /** Written or read. */
  readonly value: number
  /** Order of beginnings and ends of all operations. */
  readonly began: number
  /** Infinity: the outcome is unknown, so a write may take effect at any later time, or never. */
  readonly ended: number
}

/** @returns the first end of an operation that no order explains; null: there is an order */
export function firstContradiction(
  initial: number,
  operations: readonly RegisterOperation[],
): RegisterOperation | null {
  if (hasOrder(initial, operations)) return null
  const ends = operations.filter(({ ended }) => ended < Infinity).toSorted((a, b) => a.ended - b.ended)
  return ends.find(({ ended }) => !hasOrder(initial, upTo(operations, ended))) ?? null
}

/** What was known at that moment. */
function upTo(operations: readonly RegisterOperation[], moment: number): RegisterOperation[] {
  return operations
    .filter(({ kind, began, ended }) => began < moment && (kind === 'write' || ended <= moment))
    .map((operation) => (operation.ended <= moment ? operation : { ...operation, ended: Infinity }))
}

function hasOrder(initial: number, operations: readonly RegisterOperation[]): boolean {
  const sorted = operations.toSorted((a, b) => a.began - b.began)
  const isDone = sorted.map(() => false)
  const seen = new Set<string>()
  let left = sorted.filter(({ ended }) => ended < Infinity).length

  const extend = (value: number): boolean => {
    if (left === 0) return true
    const state = `${isDone.map((done) => (done ? 1 : 0)).join('')} ${value}`
    if (seen.has(state)) return false
    seen.add(state)
    // An operation that ended before another one began comes before it.
    const firstEnd = Math.min(...sorted.filter((_, i) => !isDone[i]).map(({ ended }) => ended))
    for (const [i, operation] of sorted.entries()) {
      if (operation.began > firstEnd) break
      if (isDone[i] || (operation.kind === 'read' && operation.value !== value)) continue
      const counts = operation.ended < Infinity ? 1 : 0
      isDone[i] = true
      left -= counts
      if (extend(operation.kind === 'write' ? operation.value : value)) return true
      isDone[i] = false
      left += counts
    }
    return false
  }
  return extend(initial)
}
