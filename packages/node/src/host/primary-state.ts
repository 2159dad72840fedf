/**
 * A storage node is the only member of its replica set. A fault makes it step down; it stays a
 * secondary until it is elected again. Server: service_entry_point_common.cpp, runCommandImpl;
 * replication_coordinator_impl.cpp, stepDown.
 */
import type { CommandRow } from '@shardlab/actor'
import { CommandError, findField } from '@shardlab/bson'
import { dropTemporaryCollections } from '../ddl/temporary.js'
import { newPrimary, noopOf } from '../log/noop.js'
import type { NodeHost, Primary } from './node-host.js'

/** Ends a step-down by command. */
export const stepUpTimer = 'step-up'

/** Commands that a secondary runs although their access says primary. */
const anywhere: ReadonlySet<string> = new Set(['getMore', 'killCursors'])

export class PrimaryState implements Primary {
  readonly #node: NodeHost
  #term = 1n
  #isPrimary = true

  constructor(node: NodeHost) {
    this.#node = node
  }

  get isPrimary(): boolean {
    return this.#isPrimary
  }

  get term(): bigint {
    return this.#term
  }

  get electionId(): Uint8Array {
    const id = new Uint8Array(12)
    id.set([0x7f, 0xff, 0xff, 0xff])
    new DataView(id.buffer).setBigUint64(4, this.#term)
    return id
  }

  adopt(term: bigint): void {
    if (term > this.#term) this.#term = term
  }

  stepDown(): void {
    if (!this.#isPrimary) return
    this.#isPrimary = false
    for (const operation of this.#node.operations) {
      if (this.#node.table.find(operation.command)?.access !== 'write') continue
      operation.interrupt(new CommandError('InterruptedDueToReplStateChange', 'operation was interrupted'))
    }
  }

  stepUp(): void {
    if (this.#isPrimary) return
    this.#isPrimary = true
    this.#beginTerm(this.#term + 1n)
    dropTemporaryCollections(this.#node)
  }

  elect(lastTerm: number): void {
    const next = BigInt(Math.max(lastTerm, 0)) + 1n
    this.#beginTerm(next > this.#term ? next : this.#term)
  }

  #beginTerm(term: bigint): void {
    this.#term = term
    this.#node.apply(noopOf(newPrimary))
    // On a full disk the entry waits for the next write.
    this.#node.context.detach(this.#node.flush().catch(ignoreOutOfDiskSpace))
  }

  checkMayRun(row: CommandRow<never>, body: Uint8Array): void {
    if (this.#isPrimary || row.access === 'none' || row.routing === 'local') return
    checkRunsOnSecondary(row, body, this.#node.behaviours)
  }
}

/**
 * @throws CommandError 10107 NotWritablePrimary, 13435 NotPrimaryNoSecondaryOk: a secondary does
 *   not run the command
 */
export function checkRunsOnSecondary(
  row: CommandRow<never>,
  body: Uint8Array,
  { notPrimaryWording }: NodeHost['behaviours'],
): void {
  if (anywhere.has(row.name)) return
  if (row.access !== 'read')
    throw new CommandError('NotWritablePrimary', notPrimaryWording === 'primary' ? 'not primary' : 'not master')
  if (mayReadFromSecondaries(body)) return
  const message = notPrimaryWording === 'primary' ? 'not primary and secondaryOk=false' : 'not master and slaveOk=false'
  throw new CommandError('NotPrimaryNoSecondaryOk', message)
}

function ignoreOutOfDiskSpace(error: unknown): void {
  if (!(error instanceof CommandError)) throw error
}

function mayReadFromSecondaries(body: Uint8Array): boolean {
  const preference = findField(body, '$readPreference')
  const mode = preference === undefined ? undefined : findField(body, 'mode', preference.start)
  return mode !== undefined && mode.asString() !== 'primary'
}
