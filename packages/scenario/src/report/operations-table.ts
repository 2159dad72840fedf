/** What each operation of the application becomes under the key of each variant. */
import { counted } from '@shardlab/quantities'
import { table } from '@shardlab/load/basics'
import type { ShapeResult, VariantResult } from '../types.js'
import { percent } from './format.js'

/** One row per operation, with a cell for each variant; null: the variant does not have it. */
export interface OperationRow {
  readonly name: string
  readonly operation: string
  readonly cells: readonly (ShapeResult | null)[]
}

export function operationRows(results: readonly VariantResult[]): OperationRow[] {
  const rows = new Map<string, OperationRow & { readonly cells: (ShapeResult | null)[] }>()
  for (const [i, { shapes }] of results.entries())
    for (const shape of shapes) {
      const id = `${shape.ns} ${shape.name}`
      let row = rows.get(id)
      if (row === undefined) {
        row = { name: shape.name, operation: shape.operation, cells: results.map(() => null) }
        rows.set(id, row)
      }
      row.cells[i] = shape
    }
  return [...rows.values()]
}

export function operationsText(results: readonly VariantResult[]): string {
  const rows = operationRows(results)
  if (rows.length === 0) return ''
  const head = ['operation', ...results.map(({ name }) => name)]
  const cells = rows.map(({ name, cells }) => [name, ...cells.map(routingText)])
  const reasons = rows.flatMap(({ name, operation, cells }) => [
    `  ${name}: ${operation}`,
    ...cells.flatMap((cell, i) => (cell === null ? [] : [`    ${results[i]!.name}: ${cell.because}`])),
  ])
  return `\nOperations at the end:\n${table([head, ...cells], '')}\n\nWhy:\n${reasons.join('\n')}\n`
}

/** `targeted`, `broadcast to 6 shards`, `targeted 70%, multi 30%: 1.3 shards`. */
export function routingText(shape: ShapeResult | null): string {
  if (shape === null) return ''
  const { kinds, shards } = shape
  const present = (['targeted', 'multi', 'broadcast', 'refused'] as const).filter((kind) => kinds[kind] > 0)
  const count = counted(Number(shards.toPrecision(2)), 'shard')
  if (present.length === 1) {
    const [only] = present as ['targeted']
    return ['targeted', 'refused'].includes(only) ? only : `${only}, ${count}`
  }
  return `${present.map((kind) => `${kind} ${percent(kinds[kind])}`).join(', ')}: ${count}`
}
