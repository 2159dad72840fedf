/**
 * Elections: a term has at most one primary, so that no two members acknowledge writes of
 * majorities in it.
 */
import type { ClusterEvent } from '@shardlab/cluster'
import { finding, type Finding } from '../finding.js'

type ElectionEvent = Extract<ClusterEvent, { readonly type: 'election' }>

export class Elections {
  /** By set and term. */
  readonly #winners = new Map<string, string>()

  seen({ set, member, term, outcome, dryRun }: ElectionEvent): Finding[] {
    if (outcome !== 'won' || dryRun) return []
    const key = `${set} ${term}`
    const other = this.#winners.get(key)
    this.#winners.set(key, member)
    return other === undefined || other === member
      ? []
      : [finding(`${other} and ${member} were both elected in term ${term} of ${set}`, null)]
  }
}
