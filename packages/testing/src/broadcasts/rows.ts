/** Broadcasts of one command on one collection from one line of the application. */
export interface BroadcastRow {
  /** `file:line`, relative to the working directory; `unknown`: another client caused it. */
  readonly place: string
  readonly ns: string
  readonly command: string
  readonly count: number
  /** The largest number that one of them asked. */
  readonly shards: number
  /** Extended JSON. */
  readonly shardKey: string
  /** A shard key that begins with one of these fields would target all of them. */
  readonly fields: readonly string[]
}

export function addRow(rows: Map<string, BroadcastRow>, row: BroadcastRow): void {
  const key = JSON.stringify([row.place, row.ns, row.command, row.shardKey])
  const known = rows.get(key)
  if (known === undefined) return void rows.set(key, row)
  rows.set(key, {
    ...known,
    count: known.count + row.count,
    shards: Math.max(known.shards, row.shards),
    fields: known.fields.filter((field) => row.fields.includes(field)),
  })
}

/** Of several processes. */
export function mergeRows(parts: readonly (readonly BroadcastRow[])[]): readonly BroadcastRow[] {
  const rows = new Map<string, BroadcastRow>()
  for (const row of parts.flat()) addRow(rows, row)
  return sorted([...rows.values()])
}

/** The most frequent first. */
export function sorted(rows: BroadcastRow[]): BroadcastRow[] {
  return rows.toSorted((a, b) => b.count - a.count || a.place.localeCompare(b.place))
}
