import { emptyDocument, exchange, type ErrorField } from './exchange.js'

const uuid = new Uint8Array(16)

export const defragmentationExchanges = {
  /**
   * Moves a defragmentation to another phase. `from` null: it begins. `to: 'finished'` removes its
   * fields. Refused when the collection is not in phase `from`, because the defragmentation was
   * ended. `phase`: the phase after the request; null: the defragmentation has ended.
   */
  'config.set-defragmentation-phase': exchange<
    { ns: string; uuid: Uint8Array; from: string | null; to: string },
    { phase: string | null; error: ErrorField }
  >({ ns: 'test.c', uuid, from: 'mergeChunks', to: 'finished' }, { phase: 'mergeChunks', error: null }),
  /** Stores the size of the chunk `[min, max)`. `sizeBytes` null: more than a small chunk. */
  'config.set-chunk-size-estimate': exchange<
    { ns: string; uuid: Uint8Array; shard: string; min: Uint8Array; max: Uint8Array; sizeBytes: number | null },
    { error: ErrorField }
  >({ ns: 'test.c', uuid, shard: 'shard01', min: emptyDocument, max: emptyDocument, sizeBytes: 1 }, { error: null }),
  /**
   * `estimate`: count each document with the average size. `sizeMaxBytes`: stop above this size;
   * null: never. `isLarger`: it stopped.
   */
  'shard.measure-range': exchange<
    {
      ns: string
      keyPattern: Uint8Array
      min: Uint8Array
      max: Uint8Array
      estimate: boolean
      sizeMaxBytes: number | null
    },
    { sizeBytes: number; isLarger: boolean; error: ErrorField }
  >(
    {
      ns: 'test.c',
      keyPattern: emptyDocument,
      min: emptyDocument,
      max: emptyDocument,
      estimate: true,
      sizeMaxBytes: 33_554_400,
    },
    { sizeBytes: 1, isLarger: false, error: null },
  ),
}
