/** Whether a member of a set of several may run a command. Server: checkCanServeReadsFor. */
import type { CommandRow } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { electionIdOf, type ReplicationCoordinator } from '@shardlab/replication'
import { checkRunsOnSecondary } from '../host/primary-state.js'
import type { NodeHost, Primary } from '../host/node-host.js'

export class SetPrimary implements Primary {
  readonly #node: Pick<NodeHost, 'behaviours'>
  readonly #coordinator: ReplicationCoordinator

  constructor(node: Pick<NodeHost, 'behaviours'>, coordinator: ReplicationCoordinator) {
    this.#node = node
    this.#coordinator = coordinator
  }

  get isPrimary(): boolean {
    return this.#coordinator.isWritablePrimary
  }

  get term(): bigint {
    return BigInt(this.#coordinator.state.term)
  }

  get electionId(): Uint8Array {
    return electionIdOf(this.#coordinator.state.electionTerm)
  }

  /** The term of a set comes from its oplog and votes. */
  adopt(): void {}

  elect(): void {
    throw new Error('a member of a set is elected by its protocol')
  }

  stepDown(): void {
    throw new Error('a member of a set steps down by its protocol')
  }

  stepUp(): void {
    throw new Error('a member of a set steps up by its protocol')
  }

  checkMayRun(row: CommandRow<never>, body: Uint8Array): void {
    const { memberState, isWritablePrimary } = this.#coordinator
    if (isWritablePrimary || row.access === 'none' || row.routing === 'local') return
    checkRunsOnSecondary(row, body, this.#node.behaviours)
    if (memberState === 'PRIMARY' || memberState === 'SECONDARY') return
    throw new CommandError('NotPrimaryOrSecondary', 'node is not in primary or recovering state')
  }
}
