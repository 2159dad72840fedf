import { emptyDocument, exchange, type ErrorField } from './exchange.js'

const uuid = new Uint8Array(16)

/** How the balancer makes few large chunks of many small ones. */
export const defragmentationExchanges = {
  /**
   * The defragmentation of a collection goes from one phase to another; `from` null: it begins. The config server refuses when the collection
   * is in another phase by now, because somebody has ended the defragmentation. `phase`: where it is afterwards; null: nowhere, as it is over.
   * With `to: 'finished'` all traces of it are removed.
   */
  'config.set-defragmentation-phase': exchange<
    { ns: string; uuid: Uint8Array; from: string | null; to: string },
    { phase: string | null; error: ErrorField }
  >({ ns: 'test.c', uuid, from: 'mergeChunks', to: 'finished' }, { phase: 'mergeChunks', error: null }),
  /** How much the chunk `[min, max)` of a shard holds; `sizeBytes` null: more than a small chunk. */
  'config.set-chunk-size-estimate': exchange<
    { ns: string; uuid: Uint8Array; shard: string; min: Uint8Array; max: Uint8Array; sizeBytes: number | null },
    { error: ErrorField }
  >({ ns: 'test.c', uuid, shard: 'shard01', min: emptyDocument, max: emptyDocument, sizeBytes: 1 }, { error: null }),
  /**
   * Bytes of the documents in a range of shard keys. `estimate`: each counts as much as the average one. It stops above `sizeMaxBytes`, null:
   * nowhere; `isLarger`: it has stopped there.
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
