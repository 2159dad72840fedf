/** Copies all data of a source to a member without any. Server: initial_syncer.cpp. */
import { RequestFailedError } from '@shardlab/actor'
import { metadataOf } from './message-fields.js'
import { persist } from './persist.js'
import type { ProtocolParts } from './protocol-parts.js'

export class InitialSync {
  readonly #set: ProtocolParts

  constructor(set: ProtocolParts) {
    this.#set = set
  }

  /** @returns whether the member has data now */
  async run(source: string): Promise<boolean> {
    const { context, coordinator, log } = this.#set
    const reply = await context
      .request(source, 'replication.clone', { term: coordinator.state.term }, { pinned: true })
      .catch((error: unknown) => {
        if (error instanceof RequestFailedError) return null
        throw error
      })
    if (reply === null || reply.image === null || coordinator.state.isPrimary) return false
    log.restore(reply.image)
    await persist(context, () => log.rewriteDisk())
    coordinator.progress(this.#set.nowMs, log.last, log.durable)
    coordinator.setFollowerMode(this.#set.nowMs, 'SECONDARY')
    coordinator.sourceReplied(this.#set.nowMs, metadataOf(reply))
    this.#set.carryOut()
    return true
  }
}
