/**
 * The newest `$clusterTime` received is sent with every command. Drivers' specification: Driver
 * Sessions, "Gossiping".
 */
import type { Document, Timestamp } from '@shardlab/bson'

export class ClusterTimes {
  /** null before the first one. */
  newest: Document | null = null

  /** @param message a reply, or a command of a session that was advanced by another client */
  learn(message: Document): void {
    const told = message['$clusterTime'] as { readonly clusterTime: Timestamp } | undefined
    if (told === undefined) return
    const known = this.newest?.['clusterTime'] as Timestamp | undefined
    if (known === undefined || told.clusterTime.greaterThan(known)) this.newest = told
  }
}
