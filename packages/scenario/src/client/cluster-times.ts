/**
 * The newest `$clusterTime` received is sent with every command. Drivers' specification: Driver
 * Sessions, "Gossiping".
 */
import type { Document, Timestamp } from '@shardlab/bson'

export class ClusterTimes {
  /** null before the first one. */
  newest: Document | null = null

  learn(reply: Document): void {
    const told = reply['$clusterTime'] as { readonly clusterTime: Timestamp } | undefined
    if (told === undefined) return
    const known = this.newest?.['clusterTime'] as Timestamp | undefined
    if (known === undefined || told.clusterTime.greaterThan(known)) this.newest = told
  }
}
