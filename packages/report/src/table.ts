import type { Cell } from './texts.js'

export interface Column {
  /** May be empty. */
  readonly title: string
  /** Numbers are right-aligned; sentences wrap; names do neither. */
  readonly holds: 'name' | 'number' | 'sentence'
}

export interface Table {
  readonly kind: 'table'
  /** For screen readers. */
  readonly label: string
  readonly columns: readonly Column[]
  /** Titles above several columns, from the left. */
  readonly groups?: readonly { readonly title: string; readonly columns: number }[]
  /** `isPart`: the row details the one above it. */
  readonly rows: readonly { readonly cells: readonly Cell[]; readonly isPart?: true }[]
}

/**
 * @param columns titles, preceded by `#` for a column of numbers and by `~` for one of sentences
 */
export function table(
  label: string,
  columns: readonly string[],
  rows: readonly (readonly Cell[])[],
  groups?: Table['groups'],
): Table {
  return {
    ...{ kind: 'table', label, columns: columns.map(columnOf), rows: rows.map((cells) => ({ cells })) },
    ...(groups === undefined ? {} : { groups }),
  }
}

export function columnOf(title: string): Column {
  if (title.startsWith('#')) return { title: title.slice(1), holds: 'number' }
  return title.startsWith('~') ? { title: title.slice(1), holds: 'sentence' } : { title, holds: 'name' }
}
