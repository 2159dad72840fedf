import type { CommandError } from '@shardlab/bson'
import type { MongosInvocation } from '../../host/mongos-host.js'
import type { Route } from '../../routing/route.js'
import type { WriteBatch } from './write-batch.js'
import type { RoundPlan } from './plan-round.js'
import { RoutedSummary } from './routed-summary.js'
import type { StatementStates } from './statement-states.js'
import { updateRefusal } from '../targeting/check-update.js'
import { StatementTargeter } from '../targeting/statement-targeter.js'

export class CollectionWrites {
  readonly ns: string
  /** The command as if sent to this collection's database. */
  readonly invocation: MongosInvocation
  readonly position: number
  readonly targeter: StatementTargeter
  readonly summary: RoutedSummary
  readonly plan: RoundPlan
  /** Null: not routed yet. */
  route: Route | null = null
  /** Targeting errors are final only with routing that was fetched during the command. */
  refreshedForTargeting = false

  constructor(
    batch: WriteBatch,
    states: StatementStates,
    position: number,
    fail: (index: number, error: CommandError) => void,
  ) {
    const { command, invocation } = batch
    const namespace = command.namespaces[position]!
    const { behaviours } = invocation.host
    const refusalOf = (index: number) => {
      const statement = command.read(index)
      return statement.kind === 'update' ? updateRefusal(statement, behaviours) : null
    }
    this.ns = namespace.ns
    this.invocation = namespace.invocation
    this.position = position
    this.targeter = new StatementTargeter(batch)
    this.summary = new RoutedSummary(invocation)
    this.plan = {
      command,
      states,
      summary: this.summary,
      batchBytesMax: invocation.host.limits.shardBatchBytesMax,
      position,
      refusalOf: behaviours.routersCheckUpdatesOf === 'all' && command.name === 'update' ? refusalOf : null,
      fail,
      targetOf: (index) => this.targeter.target(index),
      onFailed: (index, error) => {
        if (this.refreshedForTargeting) fail(index, error)
        return this.refreshedForTargeting
      },
    }
  }
}
