import type { RoutedEvent, ShardedCluster } from '@shardlab/cluster'
import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { followDriver, runningCommand, type DriverClient } from './call-places.js'
import { equalityFields } from './equality-fields.js'
import { textOf } from './render.js'
import { addRow, sorted, type BroadcastRow } from './rows.js'

export interface BroadcastReportOptions {
  /** The class `MongoClient` of the application's driver. */
  readonly driver: DriverClient
  /** Each process writes its part there, for `shardlab-broadcasts FOLDER`. Default: none. */
  readonly folder?: string
  /** {@link BroadcastReport.check} fails above this number. Default: any number is right. */
  readonly maxBroadcasts?: number
}

/** Which lines of the application make operations that every shard has to answer. */
export class BroadcastReport {
  readonly #rows = new Map<string, BroadcastRow>()
  readonly #options: BroadcastReportOptions
  readonly #file: string
  #isWritten = true

  constructor(options: BroadcastReportOptions) {
    this.#options = options
    followDriver(options.driver)
    // Random: Jest loads this module again for each file of a process.
    this.#file = `${process.pid}-${randomUUID()}.json`
    if (options.folder !== undefined) mkdirSync(options.folder, { recursive: true })
  }

  /** Until the cluster is stopped. `useCluster` calls it for each copy. */
  follow(cluster: ShardedCluster): void {
    const endpoints = new Map(cluster.members().map(({ address, endpoint }) => [address, endpoint]))
    cluster.on('routed', (event) => {
      if (event.kind === 'broadcast' && event.shardKey !== null) this.#add(event, endpoints.get(event.mongos) ?? '')
    })
  }

  /** The most frequent first. */
  get rows(): readonly BroadcastRow[] {
    return sorted([...this.#rows.values()])
  }

  /** @throws Error with the report: there were more broadcasts than allowed */
  check(): void {
    checkCount(this.rows, this.#options.maxBroadcasts)
  }

  /** Writes this process's part, if there is a folder and anything new. */
  write(): void {
    const { folder } = this.#options
    if (folder === undefined || this.#isWritten) return
    this.#isWritten = true
    writeFileSync(join(folder, this.#file), JSON.stringify(this.rows))
  }

  #add(event: RoutedEvent, endpoint: string): void {
    const started = runningCommand(endpoint, event.connectionId)
    const place = started?.place === undefined || started.place === null ? 'unknown' : shown(started.place)
    const row: BroadcastRow = {
      ...{ place, ns: event.ns, command: event.command, count: 1, shards: event.shards.length },
      ...{ shardKey: event.shardKey!, fields: started === undefined ? [] : equalityFields(started.command) },
    }
    addRow(this.#rows, row)
    this.#isWritten = false
  }
}

/** `/work/app/orders.js:5:12` is `orders.js:5` in `/work/app`. */
function shown(place: string): string {
  return relative(process.cwd(), place.replace(/:\d+$/, ''))
}

/** @throws Error with the report: there were more broadcasts than allowed */
export function checkCount(rows: readonly BroadcastRow[], max: number | undefined): void {
  const count = rows.reduce((sum, row) => sum + row.count, 0)
  if (max !== undefined && count > max)
    throw new Error(`${count} broadcasts, more than maxBroadcasts ${max}:\n${textOf(rows)}`)
}
