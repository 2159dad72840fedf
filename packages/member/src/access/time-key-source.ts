import type { TimeSigner } from '@shardlab/auth'

/** The keys of the cluster, as far as this member knows them. */
export interface TimeKeySource {
  readonly signer: TimeSigner
}
