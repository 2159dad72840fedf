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

  /** @throws Error an option is wrong */
  constructor(options: BroadcastReportOptions) {
    checkOptions(options)
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

/** `/home/me/app/orders.js:5:12` is `orders.js:5` in `/home/me/app`. */
function shown(place: string): string {
  return relative(process.cwd(), place.replace(/:\d+$/, ''))
}

const known: ReadonlySet<string> = new Set(['driver', 'folder', 'maxBroadcasts'])

function checkOptions(options: BroadcastReportOptions | undefined): void {
  const client = options?.driver as { readonly prototype?: { readonly connect?: unknown } } | undefined
  if (typeof client?.prototype?.connect !== 'function')
    throw new Error('driver must be the class MongoClient of the driver: new BroadcastReport({ driver: MongoClient }).')
  const unknown = Object.keys(options!).find((name) => !known.has(name))
  if (unknown !== undefined)
    throw new Error(`BroadcastReport has no option ${unknown}; its options are ${[...known].join(', ')}.`)
  const { folder, maxBroadcasts } = options!
  if (folder !== undefined && (typeof folder !== 'string' || folder === ''))
    throw new Error('folder must be the name of a folder, such as broadcasts.')
  if (maxBroadcasts !== undefined && !(Number.isInteger(maxBroadcasts) && maxBroadcasts >= 0))
    throw new Error(`maxBroadcasts is ${JSON.stringify(maxBroadcasts)}; it must be a whole number from 0.`)
}

/**
 * @param name of the limit, for the error
 * @throws Error with the report: there were more broadcasts than allowed
 */
export function checkCount(rows: readonly BroadcastRow[], max: number | undefined, name = 'maxBroadcasts'): void {
  const count = rows.reduce((sum, row) => sum + row.count, 0)
  if (max !== undefined && count > max)
    throw new Error(`${count} broadcasts, more than ${name} ${max}:\n${textOf(rows)}`)
}
