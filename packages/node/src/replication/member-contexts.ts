/** Contexts of the parts of a set's member. */
import type { ActorContext, CancelSignal } from '@shardlab/actor'
import { ForwardingContext } from '@shardlab/member'
import { DiskWithDocuments } from './storage/disk-with-documents.js'

/** The context of the data, whose disk also keeps documents of the member. */
export class StorageContext extends ForwardingContext {
  override readonly disk: DiskWithDocuments

  constructor(context: ActorContext) {
    super(context)
    this.disk = new DiskWithDocuments(context.disk)
  }
}

/** Of work that never ends: it knows how many of its sleeps there are now. */
export class EndlessContext extends ForwardingContext {
  sleeping = 0

  override sleep(durationMs: number, signal?: CancelSignal): Promise<void> {
    this.sleeping++
    const end = (): void => void this.sleeping--
    const slept = super.sleep(durationMs, signal)
    slept.then(end, end)
    return slept
  }
}
